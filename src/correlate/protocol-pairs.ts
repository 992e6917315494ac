import type { JsonPath } from '../json/find.ts'
import type { ValueLocation } from '../bindings/binding.ts'

/** A pair that the protocol itself defines: what the server calls `from` comes back under this name. */
export interface ProtocolPair {
  /** The name of the producing leaf. */
  readonly from: string
  /** Whether the newest of equal values is meant, or the one that was said first. */
  readonly pick: 'latest' | 'first'
  readonly why: string
}

/** The pair that a spot in a request of the client is the second half of. */
export function findProtocolPair({ path, inside }: ValueLocation): ProtocolPair | undefined {
  if (inside[0]?.kind === 'key') return INPUT_ROUND_PAIR
  if (inside.length > 0 || path.includes('arguments') || path[0] !== 'params') return undefined
  return PROTOCOL_PAIRS[String(path.findLast((step) => typeof step === 'string'))]
}

/** Whether the protocol says that this spot of a server's message produces for the pair. */
export function producesForPair({ from }: ProtocolPair, { path, inside }: ValueLocation): boolean {
  if (inside[0]?.kind === 'key') return from === INPUT_ROUND_PAIR.from
  return inside.length === 0 && from === lastNameOf(path)
}

/** Whether a spot of a server's message gets a new value with each answer. */
export function isRenewedByProtocol(spot: ValueLocation): boolean {
  return [INPUT_ROUND_PAIR, ...Object.values(PROTOCOL_PAIRS)].some(
    (pair) => pair.pick === 'latest' && producesForPair(pair, spot),
  )
}

const INPUT_ROUND_PAIR: ProtocolPair = {
  from: 'inputRequests',
  pick: 'latest',
  why: 'an answer is sent under the name that the server asked under',
}

const TASK_PAIR: ProtocolPair = { from: 'taskId', pick: 'first', why: 'the server names its tasks' }

const PROTOCOL_PAIRS: Readonly<Record<string, ProtocolPair>> = Object.assign(Object.create(null), {
  cursor: { from: 'nextCursor', pick: 'latest', why: 'a cursor is sent back as `nextCursor` gave it' },
  requestState: {
    from: 'requestState',
    pick: 'latest',
    why: 'the server gets its `requestState` back as it was',
  },
  taskId: TASK_PAIR,
  taskIds: TASK_PAIR,
})

function lastNameOf(path: JsonPath): string {
  return String(path.findLast((step) => typeof step === 'string'))
}
