import type { Difference } from '../../diff/difference.ts'
import { findRange } from '../../json/find.ts'
import { parseJson } from '../../json/parse.ts'
import { classifyMessage, type Response, type Notification, type Request } from '../../protocol/message.ts'
import type { InterimMessage, CallEnd } from '../session/live-calls.ts'
import type { Turn, TurnStep } from '../../tape/turn.ts'

/** A live answer beside the recorded one, as the layers of a verdict look at it. */
export interface JudgedAnswer {
  readonly turn: Turn
  readonly tool: string | undefined
  readonly end: CallEnd
  readonly live: Response | undefined
  readonly recorded: Response | undefined
  readonly asides: readonly InterimMessage[]
  /** Requests of the server that only came at another time. */
  readonly moved: ReadonlySet<string>
  /** Milliseconds, from the request to the answer. */
  readonly duration: number | undefined
  readonly recordedDuration: number | undefined
}

export function toJudgedAnswer(
  given: Pick<JudgedAnswer, 'turn' | 'tool' | 'end' | 'asides' | 'moved' | 'duration'>,
): JudgedAnswer {
  const { turn, tool, end, asides, moved, duration } = given
  const answer = turn.response?.message
  const recorded = answer?.kind === 'response' ? answer : undefined
  return {
    turn,
    tool,
    end,
    asides,
    moved,
    duration,
    live: liveResponse(end, recorded),
    recorded,
    recordedDuration:
      turn.response === undefined || turn.trigger === undefined
        ? undefined
        : turn.response.t - turn.trigger.t,
  }
}

/** The result of a response; undefined when it is an error. */
export function resultOfResponse(response: Response | undefined): unknown {
  return response !== undefined && 'result' in response.outcome ? response.outcome.result : undefined
}

export function errorOfResponse(response: Response | undefined): unknown {
  return response !== undefined && 'error' in response.outcome ? response.outcome.error : undefined
}

// The same bytes say the same: they are not read a second time.
function liveResponse(end: CallEnd, recorded: Response | undefined): Response | undefined {
  if (end.kind !== 'answered') return undefined
  if (end.asRecorded) return recorded
  const message = classifyMessage(parseJson(end.text))
  return message.kind === 'response' ? message : undefined
}

/** Looks at one aspect of an answer. */
export interface Judge {
  judge(answer: JudgedAnswer): readonly StepFinding[]
  /** If this judge finds something, the answers are of different kinds and the judges after it have nothing to compare. */
  readonly isFinal?: true
}

/** Whether the answer has the recorded bytes, except for its id. */
export function isAsRecorded({ end, live }: JudgedAnswer): boolean {
  return end.kind === 'answered' && end.asRecorded && live !== undefined
}

/** The layers of a verdict, in the order in which they are judged. */
export const LAYERS = ['transport', 'json-rpc', 'is-error', 'schema', 'values', 'order', 'timing'] as const

export type Layer = (typeof LAYERS)[number]

/** One thing in which the live run is not as recorded. */
export interface StepFinding {
  readonly layer: Layer
  /** `warn` does not fail a run; `skip` takes the answer out of the count of those that were checked. */
  readonly level: 'error' | 'warn' | 'skip'
  /** Of the layer `schema`: whose schema it is, the tool's own or that of the protocol. */
  readonly source?: 'outputSchema' | 'official'
  /** One sentence. */
  readonly message: string
  /** Where, in the grammar that the options take. */
  readonly path?: string
  readonly expected?: unknown
  readonly actual?: unknown
  /** What the comparison of values found, for those who learn what is noise. */
  readonly difference?: Difference
  /** The rule that found it wants the message sent again. */
  readonly retry?: boolean
}

/** What is found in nearly every answer. */
export const NO_FINDINGS: readonly StepFinding[] = []

/** The result or error of an answer, as an object of its own: paths in it begin with its name. */
export function outcomeText(text: string): string | undefined {
  for (const name of ['result', 'error']) {
    const range = findRange(text, [name])
    if (range !== undefined) return `{"${name}":${text.slice(range.start, range.end)}}`
  }
  return undefined
}

/** What the recorded server said in a step beside its answer. */
export function serverMessagesIn(step: TurnStep): readonly (Request | Notification)[] {
  if (step.kind === 'respond') return []
  const { message } = step.kind === 'ask' ? step.request : step.message
  return message.kind === 'request' || message.kind === 'notification' ? [message] : []
}
