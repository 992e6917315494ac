import { replaceValue } from '../../json/find.ts'
import { type Id, findKnownId } from '../../protocol/id.ts'
import type { StepJudgement } from '../judge/judge.ts'
import { type StepFinding, type JudgedAnswer, toJudgedAnswer } from '../judge/judged-answer.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import { withFreshIds } from '../send/fresh-ids.ts'
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

function answeredStep(
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
function emptyStep({ index, turn, message, tool }: PlannedMessage): ReplayStep {
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

/** A request that was sent as recorded, and answered as recorded: all else that can be said of it stands on the tape. */
export interface UnchangedStep {
  readonly kind: 'as recorded'
  readonly index: number
  /** The fresh id. */
  readonly id: number
  readonly sentAt: number
  readonly duration: number
  readonly judgedBy: readonly string[]
}

/** What became of a message, in as few words as it takes. */
export type StepOutcome = UnchangedStep | ReplayStep

export function isUnchanged(outcome: StepOutcome): outcome is UnchangedStep {
  return 'kind' in outcome
}

/** Whether a number fits where ids are kept. */
function isCompactId(id: unknown): id is number {
  return typeof id === 'number' && id >>> 0 === id
}

/** The same in full. */
export function expandStep(
  { id, sentAt, duration, judgedBy }: UnchangedStep,
  planned: PlannedMessage,
): ReplayStep {
  const { message, text, turn } = planned
  const recorded = message.kind === 'request' ? message.id : 0
  const answer = turn.response?.text
  return {
    ...emptyStep(planned),
    sent: withFreshIds(text, recorded, id).text,
    answer: answer && withAnswerId(answer, findKnownId(answer, recorded), String(id)),
    sentAt,
    duration,
    recordedDuration: (turn.response?.t ?? 0) - (turn.trigger?.t ?? 0),
    judgedBy,
  }
}

function withAnswerId(text: string, range: ReturnType<typeof findKnownId>, id: string): string {
  if (range === undefined) return replaceValue(text, ['id'], id)
  return text.slice(0, range.start) + id + text.slice(range.end)
}

/** A request that was sent, what came of it, and what it took. */
interface AnsweredMessage {
  readonly planned: PlannedMessage
  readonly heard: RequestOutcome
  readonly retries: number
  readonly transformedBy: readonly string[]
}

export interface StepJudgeOptions {
  readonly judge: (judged: JudgedAnswer) => StepJudgement
  readonly carrier: CarriedValues
}

/** Holds an answer against the recorded one. Of one that is as it was no more is kept than the tape does not know. */
export function judgeStep(step: AnsweredMessage, { judge, carrier }: StepJudgeOptions): StepOutcome {
  const { planned, heard, retries, transformedBy } = step
  const { turn, tool, index } = planned
  const { end, asides, moved, id, sentAt, endedAt } = heard
  const duration = endedAt === undefined ? undefined : endedAt - sentAt
  const judged = toJudgedAnswer({ turn, tool, end, asides, moved, duration })
  const { findings, judgedBy } = judge(judged)
  const isPlain = findings.length + retries + transformedBy.length === 0 && matchesTape(planned, heard)
  if (isPlain && duration !== undefined && isCompactId(id))
    return { kind: 'as recorded', index, id, sentAt, duration, judgedBy }
  const result = answeredStep(planned, heard, { findings, judgedBy, transformedBy, retries, judged })
  if (end.kind !== 'answered' || result.findings.length === 0) return result
  const accept = acceptedAnswer(turn, end.text, carrier)
  return accept === undefined ? result : { ...result, acceptable: accept }
}

/** Whether nothing but names is another than on the tape, on the way there and back. */
function matchesTape({ text }: PlannedMessage, { end, bound }: RequestOutcome): boolean {
  return end.kind === 'answered' && end.asRecorded && bound === text
}

/** Whether a step is not as recorded, in a way that counts. */
export function hasFailed({ findings }: Pick<ReplayStep, 'findings'>): boolean {
  return findings.some(({ level }) => level === 'error')
}
