import type { Id } from '../../protocol/message.ts'
import { NO_FINDINGS, type StepFinding } from '../judge/judged-answer.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { SentNotification, SentRequest, UnsentMessage } from '../send/send-message.ts'
import type { CallEnd } from '../session/live-calls.ts'
import type { UnboundValue } from '../values/carried-values.ts'

/** The result of one message of the recorded client. */
export interface ReplayStep {
  readonly index: number
  /** Frame on the tape. */
  readonly frame: number
  readonly method: string
  /** The recorded id of a request; `undefined` for a notification. */
  readonly recordedId: Id | undefined
  readonly tool: string | undefined
  readonly state: StepState
  /** Why the message was not sent or got no answer. */
  readonly why: string | undefined
  /** The text that was sent and its answers. A long run does not keep all texts. */
  readonly sent: string | undefined
  readonly answer: string | undefined
  readonly recordedAnswer: string | undefined
  /** Milliseconds from the start of the run. */
  readonly sentAt: number | undefined
  /** Milliseconds that the answer took, now and on the tape. */
  readonly duration: number | undefined
  readonly recordedDuration: number | undefined
  readonly retries: number
  /** The request was made to fail instead of being sent. */
  readonly isInjected?: true
  readonly findings: readonly StepFinding[]
  /** Names of the rules that compared the answer, and of those that changed the message. */
  readonly judgedBy: readonly string[]
  readonly transformedBy: readonly string[]
  /** The answer that `verify --update` would write to the tape; only if there are findings. */
  readonly acceptable?: AcceptedAnswer
}

/** A live answer as it can replace the recorded one on the tape. */
export interface AcceptedAnswer {
  /** The frame of the recorded answer. */
  readonly frame: number
  readonly text: string
}

export type StepState =
  /** Answered, or a notification that was sent. */
  | 'done'
  | 'timeout'
  | 'lost'
  /** Left out by an option or because of the handshake. */
  | 'skipped'
  /** Held back because it may have side effects and was not allowed. */
  | 'held'
  /** Not sent because a value of the live server is missing. */
  | 'unbound'

/** Why a request has no answer if the run was stopped before it came. */
export const STOPPED_BEFORE_ANSWER = 'the run was stopped before its answer came'

/** The step of a message that was not sent. */
export function unsentStep({ planned, state, why, unbound }: UnsentMessage): ReplayStep {
  return { ...emptyStep(planned), state, why, findings: unbound.map(unboundFinding) }
}

export function notificationStep({ planned, text, sentAt, transformedBy }: SentNotification): ReplayStep {
  return { ...emptyStep(planned), sent: text, sentAt, transformedBy }
}

/** The step of a request, with what the judges say about its answer. */
export function requestStep(
  { planned, message, text, end, sentAt, retries, isInjected }: SentRequest,
  { findings, judgedBy, duration, recordedDuration, acceptable }: AnswerJudgement,
): ReplayStep {
  const { index, turn, message: recorded, tool } = planned
  return {
    index,
    frame: turn.trigger?.n ?? 0,
    method: recorded.method,
    recordedId: recorded.kind === 'request' ? recorded.id : undefined,
    tool,
    state: STATES[end.kind],
    why: withInjectedPrefix(reasonOf(end), isInjected),
    sent: text,
    answer: end.kind === 'answered' ? end.text : undefined,
    recordedAnswer: turn.response?.text,
    sentAt,
    duration,
    recordedDuration,
    retries,
    ...(isInjected && { isInjected }),
    findings: isInjected ? findings.map(asInjected) : findings,
    judgedBy,
    transformedBy: message.applied,
    ...(acceptable && { acceptable }),
  }
}

interface AnswerJudgement extends Pick<
  ReplayStep,
  'findings' | 'judgedBy' | 'duration' | 'recordedDuration'
> {
  readonly acceptable: AcceptedAnswer | undefined
}

function asInjected(finding: StepFinding): StepFinding {
  return { ...finding, message: withInjectedPrefix(finding.message, true) }
}

function withInjectedPrefix<Text extends string | undefined>(
  text: Text,
  isInjected: true | undefined,
): Text | string {
  return isInjected && text !== undefined ? `injected: ${text}` : text
}

const STATES: Readonly<Record<CallEnd['kind'], StepState>> = {
  answered: 'done',
  open: 'done',
  timeout: 'timeout',
  lost: 'lost',
  'given-up': 'lost',
}

function reasonOf(end: CallEnd): string | undefined {
  if (end.kind === 'lost') return end.why
  if (end.kind === 'given-up') return STOPPED_BEFORE_ANSWER
  return end.kind === 'timeout' ? `no answer within ${end.after} ms` : undefined
}

/** The step of a message before anything is known about its result. */
export function emptyStep({ index, turn, message, tool }: PlannedMessage): ReplayStep {
  return {
    index,
    frame: turn.trigger?.n ?? 0,
    method: message.method,
    recordedId: message.kind === 'request' ? message.id : undefined,
    tool,
    state: 'done',
    why: undefined,
    sent: undefined,
    answer: undefined,
    recordedAnswer: turn.response?.text,
    sentAt: undefined,
    duration: undefined,
    recordedDuration: undefined,
    retries: 0,
    findings: NO_FINDINGS,
    judgedBy: NO_NAMES,
    transformedBy: NO_NAMES,
  }
}

export const NO_NAMES: readonly string[] = []

function unboundFinding({ path, recorded, why, isProducerMissing }: UnboundValue): StepFinding {
  const message = `UNBOUND_HANDLE: ${why}`
  return { layer: 'values', level: isProducerMissing ? 'warn' : 'error', message, path, expected: recorded }
}

/** Returns true if a step has findings of the level `error`. */
export function hasFailed({ findings }: Pick<ReplayStep, 'findings'>): boolean {
  return findings.some(({ level }) => level === 'error')
}
