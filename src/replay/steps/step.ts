import type { Id } from '../../protocol/id.ts'
import type { AcceptedAnswer } from './accepted-answer.ts'
import type { StepFinding } from '../verdict/finding.ts'

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
