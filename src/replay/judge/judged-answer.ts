import type { Turn } from '../../tape/turn.ts'
import { classifyMessage, type Response } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import type { InterimMessage, CallEnd } from '../session/live-calls.ts'

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
