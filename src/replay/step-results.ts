import type { Id } from '../protocol/id.ts'
import type { InterimMessage, CallEnd } from './session/live-calls.ts'
import type { PlannedMessage } from './plan/plan.ts'
import { STOPPED_BEFORE_ANSWER, type ReplayStep, type StepState } from './steps/step.ts'
import type { StepFinding } from './verdict/finding.ts'
import type { JudgedAnswer } from './judge/judged-answer.ts'
import type { UnboundValue } from './values/carried-values.ts'

/** What came of a request that was sent. */
export interface RequestOutcome {
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

export function answeredStep(
  planned: PlannedMessage,
  { end, sent, sentAt, isInjected }: RequestOutcome,
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
    findings: [],
    judgedBy: [],
    transformedBy: [],
  }
}

function unboundFinding({ path, recorded, why, isProducerMissing }: UnboundValue): StepFinding {
  const message = `UNBOUND_HANDLE: ${why}`
  return { layer: 'values', level: isProducerMissing ? 'warn' : 'error', message, path, expected: recorded }
}
