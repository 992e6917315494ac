import type { Difference } from '../../diff/difference.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { Id } from '../../protocol/message.ts'

/** The result of one message of the recorded client. */
export interface ReplayStep {
  readonly index: number
  /** Frame on the tape. */
  readonly frame: number
  /** The number of the exchange that the request began; `undefined` for a notification. */
  readonly exchange?: number | undefined
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
  /**
   * What the server sent besides the answer, as JSON text: an object with the members `notifications` and `lastProgress` for
   * progress of the request, and `connection` for all notifications that belong to no request. Paths of findings begin with
   * these names. `undefined` if the server sent nothing.
   */
  readonly notifications?: string | undefined
  /** Milliseconds from the start of the run. */
  readonly sentAt: number | undefined
  /** Milliseconds that the answer took, now and on the tape. */
  readonly duration: number | undefined
  readonly recordedDuration: number | undefined
  readonly retries: number
  /** The request was made to fail instead of being sent. */
  readonly isInjected?: true
  /** The response is a JSON-RPC error, or the result of a tool that failed. */
  readonly isError?: true
  /** The tape has no response to the request, so that there was nothing to compare with. */
  readonly isUnrecorded?: true
  readonly findings: readonly StepFinding[]
  /** Names of the rules that compared the answer, and of those that changed the message. */
  readonly judgedBy: readonly string[]
  readonly transformedBy: readonly string[]
  /** The answer that `verify --update` would write to the tape; only if there are findings. */
  readonly acceptable?: AcceptedAnswer
}

/** A live answer in the form in which it can replace the recorded one on the tape. */
export interface AcceptedAnswer {
  /** The frame of the recorded answer. */
  readonly frame: number
  readonly text: string
}

/** The facts of a step that are known without reading its messages from the tape. */
export type StepOutline = Pick<
  ReplayStep,
  | 'index'
  | 'state'
  | 'why'
  | 'sentAt'
  | 'duration'
  | 'isInjected'
  | 'isError'
  | 'isUnrecorded'
  | 'findings'
  | 'judgedBy'
  | 'transformedBy'
>

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

/** One difference between the live run and the recording. */
export interface StepFinding {
  readonly layer: Layer
  /** `warn` does not fail a run; `skip` excludes the answer from the checked ones. */
  readonly level: 'error' | 'warn' | 'skip'
  /** In the layer `schema`: the schema of the tool or that of the protocol. */
  readonly source?: 'outputSchema' | 'official'
  /** One sentence. */
  readonly message: string
  /** The path of the difference, as options such as `ignore` take it. */
  readonly path?: string
  readonly expected?: unknown
  readonly actual?: unknown
  /** The difference of values, from which noise is learned. */
  readonly difference?: Difference
  /** The rule asks to send the request again. */
  readonly retry?: boolean
  /** No noise explains it, because the value has to be equal to another one. */
  readonly isNeverNoise?: true
  /** The value varies from run to run, but does not in the noise profile. */
  readonly isNewlyUnstable?: true
  /** The notification is similar to others, so that only their number differs, which may depend on the time that things take. */
  readonly isOneOfMany?: true
  /** In the report of several runs: in how many of them it occurred. */
  readonly inRuns?: number
}

/** The layers of findings, in the order in which they are judged. */
export const LAYERS = [
  'transport',
  'json-rpc',
  'is-error',
  'schema',
  'values',
  'order',
  'notifications',
  'timing',
] as const

export type Layer = (typeof LAYERS)[number]

/** Shared, because nearly every step has no findings. */
export const NO_FINDINGS: readonly StepFinding[] = []
export const NO_NAMES: readonly string[] = []

/** Why a message is not sent after the run was stopped, and why a request has no answer if it was stopped in between. */
export const RUN_STOPPED = 'the run was stopped'
export const STOPPED_BEFORE_ANSWER = 'the run was stopped before its answer came'

/** The step of a message before anything is known about its result. */
export function emptyStep({ index, turn, message, tool }: PlannedMessage): ReplayStep {
  return {
    index,
    frame: turn.trigger?.n ?? 0,
    exchange: turn.exchange,
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

/** Returns true if a step has findings of the level `error`. */
export function hasFailed({ findings }: Pick<ReplayStep, 'findings'>): boolean {
  return findings.some(({ level }) => level === 'error')
}
