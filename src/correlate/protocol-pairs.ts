import type { Path } from '../wire/members.ts'
import type { Spot } from './lens.ts'

/** A pair that the protocol itself defines: what the server calls `from` comes back under this name. */
export interface ProtocolPair {
  /** The name of the producing leaf. */
  readonly from: string
  /** Whether the newest of equal values is meant, or the one that was said first. */
  readonly pick: 'latest' | 'first'
  readonly why: string
}

/** The pair that a spot in a request of the client is the second half of. */
export function protocolPairOf({ path, inside }: Spot): ProtocolPair | undefined {
  if (inside[0]?.kind === 'key') return ROUND
  if (inside.length > 0 || path.includes('arguments') || path[0] !== 'params') return undefined
  return PAIRS[String(path.findLast((step) => typeof step === 'string'))]
}

/** Whether the protocol says that this spot of a server's message produces for the pair. */
export function producesFor({ from }: ProtocolPair, { path, inside }: Spot): boolean {
  if (inside[0]?.kind === 'key') return from === ROUND.from
  return inside.length === 0 && from === lastName(path)
}

const ROUND: ProtocolPair = {
  from: 'inputRequests',
  pick: 'latest',
  why: 'an answer is sent under the name that the server asked under',
}

const TASK: ProtocolPair = { from: 'taskId', pick: 'first', why: 'the server names its tasks' }

const PAIRS: Readonly<Record<string, ProtocolPair>> = Object.assign(Object.create(null), {
  cursor: { from: 'nextCursor', pick: 'latest', why: 'a cursor is sent back as `nextCursor` gave it' },
  requestState: {
    from: 'requestState',
    pick: 'latest',
    why: 'the server gets its `requestState` back as it was',
  },
  taskId: TASK,
  taskIds: TASK,
})

function lastName(path: Path): string {
  return String(path.findLast((step) => typeof step === 'string'))
}
