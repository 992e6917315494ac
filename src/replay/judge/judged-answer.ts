import type { Difference } from '../../diff/difference.ts'
import { findRange } from '../../json/find-replace.ts'
import { parseJson } from '../../json/parse.ts'
import { classifyMessage, type Response, type Notification, type Request } from '../../protocol/message.ts'
import type { InterimMessage, CallEnd } from '../session/live-calls.ts'
import type { Turn, TurnStep } from '../../tape/turns.ts'

/** A live answer with the recorded one, as the judges see it. */
export interface JudgedAnswer {
  readonly turn: Turn
  readonly tool: string | undefined
  readonly end: CallEnd
  readonly live: Response | undefined
  readonly recorded: Response | undefined
  readonly asides: readonly InterimMessage[]
  /** Methods of requests that the server sent at another time than recorded. */
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

/** The result of a response; `undefined` if it is an error. */
export function resultOfResponse(response: Response | undefined): unknown {
  return response !== undefined && 'result' in response.outcome ? response.outcome.result : undefined
}

export function errorOfResponse(response: Response | undefined): unknown {
  return response !== undefined && 'error' in response.outcome ? response.outcome.error : undefined
}

// The same bytes have the same meaning and are not parsed again.
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

/** Returns true if the answer has the recorded bytes, except for its id. */
export function isAsRecorded({ end, live }: JudgedAnswer): boolean {
  return end.kind === 'answered' && end.asRecorded && live !== undefined
}

/** The layers of findings, in the order in which they are judged. */
export const LAYERS = ['transport', 'json-rpc', 'is-error', 'schema', 'values', 'order', 'timing'] as const

export type Layer = (typeof LAYERS)[number]

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
}

/** Shared, because nearly every answer has no findings. */
export const NO_FINDINGS: readonly StepFinding[] = []

/** The result or error of an answer as an object with one member, so that paths begin with `result` or `error`. */
export function outcomeText(text: string): string | undefined {
  for (const name of ['result', 'error']) {
    const range = findRange(text, [name])
    if (range !== undefined) return `{"${name}":${text.slice(range.start, range.end)}}`
  }
  return undefined
}

/** The request or notification of the recorded server in a step; empty for its answer. */
export function serverMessagesIn(step: TurnStep): readonly (Request | Notification)[] {
  if (step.kind === 'respond') return []
  const { message } = step.kind === 'ask' ? step.request : step.message
  return message.kind === 'request' || message.kind === 'notification' ? [message] : []
}
