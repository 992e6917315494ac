import type { RecordedMessage } from '../../tape/turn.ts'
import type { Era } from '../../protocol/era.ts'
import { member } from '../../protocol/message.ts'
import type { ReplySource } from '../reply.ts'
import type { RecordedHeads } from './recorded-http.ts'

/** The HTTP status of an answer: as recorded; for what was not recorded over HTTP, as the era has it. */
export function httpStatusOf(source: ReplySource | undefined, era: Era, heads: RecordedHeads): number {
  const recorded = source !== undefined && 'message' in source ? heads.of(source)?.status : undefined
  if (recorded !== undefined && isAnswerStatus(recorded)) return recorded
  return era === 'legacy' ? 200 : (MODERN_STATUS.get(errorCodeOf(source)) ?? 200)
}

/** Whether an answer with a body can have this status: a tape may say anything. */
function isAnswerStatus(status: number): boolean {
  return status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304
}

// 2026-07-28: unknown methods are 404; what the protocol itself refuses is 400. All other errors are answers like any other.
const MODERN_STATUS: ReadonlyMap<unknown, number> = new Map([
  [-32601, 404],
  [-32020, 400],
  [-32021, 400],
  [-32022, 400],
])

/** The code of a JSON-RPC error, if it is one. */
export function errorCodeOf(source: ReplySource | undefined): unknown {
  if (source === undefined) return undefined
  const outcome = 'message' in source ? outcomeOf(source) : source
  return member(member(outcome, 'error'), 'code')
}

function outcomeOf({ message }: RecordedMessage): unknown {
  return message.kind === 'response' ? message.outcome : undefined
}
