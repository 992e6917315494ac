import type { Spoken } from '../../tape/turn.ts'
import type { Era } from '../../wire/era.ts'
import { member } from '../../wire/message.ts'
import type { Source } from '../reply.ts'
import type { RecordedHeads } from './recorded-heads.ts'

/** The HTTP status of an answer: as recorded; for what was not recorded over HTTP, as the era has it. */
export function answerStatus(source: Source | undefined, era: Era, heads: RecordedHeads): number {
  const recorded = source !== undefined && 'message' in source ? heads.of(source)?.status : undefined
  if (recorded !== undefined && isOfAnswer(recorded)) return recorded
  return era === 'legacy' ? 200 : (MODERN.get(errorCode(source)) ?? 200)
}

/** Whether an answer with a body can have this status: a tape may say anything. */
function isOfAnswer(status: number): boolean {
  return status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304
}

// 2026-07-28: unknown methods are 404; what the protocol itself refuses is 400. All other errors are answers like any other.
const MODERN: ReadonlyMap<unknown, number> = new Map([
  [-32601, 404],
  [-32020, 400],
  [-32021, 400],
  [-32022, 400],
])

/** The code of a JSON-RPC error, if it is one. */
export function errorCode(source: Source | undefined): unknown {
  if (source === undefined) return undefined
  const outcome = 'message' in source ? outcomeOf(source) : source
  return member(member(outcome, 'error'), 'code')
}

function outcomeOf({ message }: Spoken): unknown {
  return message.kind === 'response' ? message.outcome : undefined
}
