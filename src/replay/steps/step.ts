import type { Id } from '../../protocol/id.ts'
import type { StepJudgement } from '../judge/judge.ts'
import { NO_FINDINGS, type StepFinding, type JudgedAnswer, toJudgedAnswer } from '../judge/judged-answer.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { InterimMessage, CallEnd } from '../session/live-calls.ts'
import { type AcceptedAnswer, acceptedAnswer } from './accepted-answer.ts'
import type { UnboundValue, CarriedValues } from '../values/carried-values.ts'

/** What became of one message of the recorded client. */
export interface ReplayStep {
  readonly index: number
  /** Its frame on the tape. */
  readonly frame: number
  readonly method: string
  /** The id of the request on the tape; a notification has none. */
  readonly recordedId: Id | undefined
  readonly tool: string | undefined
  readonly state: StepState
  /** Why it was not sent, or got no answer. */
  readonly why: string | undefined
  /** The text that went out, and the text that came back; of a long run not all are kept. */
  readonly sent: string | undefined
  readonly answer: string | undefined
  readonly recordedAnswer: string | undefined
  /** Milliseconds from the start of the run. */
  readonly sentAt: number | undefined
  /** Milliseconds that the answer took, now and on the tape. */
  readonly duration: number | undefined
  readonly recordedDuration: number | undefined
  readonly retries: number
  /** It was not sent: the user wanted it to go wrong. */
  readonly isInjected?: true
  readonly findings: readonly StepFinding[]
  /** Names of the rules by which the values of the answer were compared, and of those that changed the message. */
  readonly judgedBy: readonly string[]
  readonly transformedBy: readonly string[]
  /** The answer, as `verify --update` would put it on the tape; only for one that is not as recorded. */
  readonly acceptable?: AcceptedAnswer
}

export type StepState =
  /** Answered, or a notification that went out. */
  | 'done'
  | 'timeout'
  | 'lost'
  /** Left out by the user or the handshake. */
  | 'skipped'
  /** It might change the world, and nobody allowed that. */
  | 'held'
  /** A value that the live server had to make up is not known, so that it was not sent. */
  | 'unbound'

/** Why a message was not sent that came after the end of the run. */
export const RUN_STOPPED = 'the run was stopped'

/** Why one was lost that was on its way by then. */
export const STOPPED_BEFORE_ANSWER = 'the run was stopped before its answer came'

/** A request that was sent, and how it ended. */
export interface SentRequest {
  readonly planned: PlannedMessage
  readonly end: CallEnd
  readonly id: Id
  /** What was to be sent, before it got its own names; and what was. */
  readonly bound: string
  readonly sent: string
  readonly sentAt: number
  readonly endedAt: number | undefined
  readonly asides: readonly InterimMessage[]
  /** Requests of the server that only came at another time. */
  readonly moved: ReadonlySet<string>
  /** Nothing was sent: the user wanted it to go wrong. */
  readonly isInjected?: true
}

export function unsentStep(
  planned: PlannedMessage,
  state: 'skipped' | 'held' | 'unbound',
  why: string,
  unbound: readonly UnboundValue[] = [],
): ReplayStep {
  return { ...emptyStep(planned), state, why, findings: unbound.map(unboundFinding) }
}

/** A notification that went out. */
export function notificationStep(planned: PlannedMessage, sent: string, sentAt: number): ReplayStep {
  return { ...emptyStep(planned), sent, sentAt }
}

function answeredStep(
  { planned, end, sent, sentAt, isInjected }: SentRequest,
  past: Pick<ReplayStep, 'findings' | 'judgedBy' | 'transformedBy' | 'retries'> & {
    readonly judged: JudgedAnswer
  },
): ReplayStep {
  const { judged, findings, judgedBy, transformedBy, retries } = past
  const { index, turn, message, tool } = planned
  return {
    index,
    frame: turn.trigger?.n ?? 0,
    method: message.method,
    recordedId: message.kind === 'request' ? message.id : undefined,
    tool,
    state: STATES[end.kind],
    why: withInjectedPrefix(reasonOf(end), isInjected),
    sent,
    answer: end.kind === 'answered' ? end.text : undefined,
    recordedAnswer: turn.response?.text,
    sentAt,
    duration: judged.duration,
    recordedDuration: judged.recordedDuration,
    retries,
    ...(isInjected && { isInjected }),
    findings: isInjected ? findings.map(asInjected) : findings,
    judgedBy,
    transformedBy,
  }
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

/** A step of which nothing is known yet. */
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

interface Attempt {
  readonly retries: number
  readonly transformedBy: readonly string[]
}

export interface StepJudgeOptions {
  readonly judge: (judged: JudgedAnswer) => StepJudgement
  readonly carrier: CarriedValues
}

/** Compares the answer to a request with the recorded one. */
export function judgeStep(
  sent: SentRequest,
  { retries, transformedBy }: Attempt,
  { judge, carrier }: StepJudgeOptions,
): ReplayStep {
  const { planned, end, asides, moved, sentAt, endedAt } = sent
  const { turn, tool } = planned
  const duration = endedAt === undefined ? undefined : endedAt - sentAt
  const judged = toJudgedAnswer({ turn, tool, end, asides, moved, duration })
  const { findings, judgedBy } = judge(judged)
  const step = answeredStep(sent, { findings, judgedBy, transformedBy, retries, judged })
  if (end.kind !== 'answered' || findings.length === 0) return step
  const acceptable = acceptedAnswer(turn, end.text, carrier)
  return acceptable === undefined ? step : { ...step, acceptable }
}

/** Whether a step is not as recorded, in a way that counts. */
export function hasFailed({ findings }: Pick<ReplayStep, 'findings'>): boolean {
  return findings.some(({ level }) => level === 'error')
}
