import {
  FilteredTurns,
  type KeyedTurns,
  type KeyOf,
  type TurnStore,
  type Turn,
  type RecordedMessage,
} from '../../tape/turns.ts'

/** A view of the turns in which, among those with the same key, the turns of one session come first. */
export function preferTurns(turns: TurnStore, isOwn: SessionFilter): TurnStore {
  return new PreferredTurns(turns, isOwn)
}

// A turn on disk must be read to tell which session it belongs to. Beyond this many turns of one key the order is that of the tape.
const MAX_REORDERED = 1024

class PreferredTurns extends FilteredTurns {
  readonly #isOwn: (index: number) => boolean

  /** Turns without a trigger open a connection, so those of other sessions are left out. */
  constructor(turns: TurnStore, isOwn: SessionFilter) {
    const isOwnAt = (index: number): boolean => {
      const turn = turns.at(index)
      return turn !== undefined && isOwn(turn)
    }
    super(turns, (index) => turns.summary(index).trigger !== 'none' || isOwnAt(index))
    this.#isOwn = isOwnAt
  }

  protected override indexBy(keyOf: KeyOf): KeyedTurns {
    const keyed = super.indexBy(keyOf)
    const firsts = new Map<number, number>()
    const nexts = new Map<number, number>()
    const reorder = (first: number): number => {
      const chain: number[] = []
      let index = first
      for (; index >= 0 && chain.length < MAX_REORDERED; index = keyed.next(index)) chain.push(index)
      const ordered = [...chain.filter(this.#isOwn), ...chain.filter((one) => !this.#isOwn(one))]
      for (const [at, one] of ordered.entries()) nexts.set(one, ordered[at + 1] ?? index)
      firsts.set(first, ordered[0] ?? first)
      return ordered[0] ?? first
    }
    return {
      first: (key, method) => {
        const first = keyed.first(key, method)
        return first < 0 ? first : (firsts.get(first) ?? reorder(first))
      },
      next: (index) => nexts.get(index) ?? keyed.next(index),
      read: (index, key) => keyed.read(index, key),
    }
  }
}

/** Returns true if a turn belongs to a session. */
export type SessionFilter = (turn: Turn) => boolean

/**
 * The sessions of a tape, in the order in which they began. A connection with a handshake and at least one more message is a
 * session. If every exchange has its own connection, a session lasts from one handshake to the next.
 */
export function sessionFilters(turns: TurnStore): readonly SessionFilter[] {
  const handshakes: number[] = []
  for (let index = 0; index < turns.size; index++)
    if (turns.summary(index).method === 'initialize') handshakes.push(index)
  return handshakes.flatMap((index, nth) => {
    const opening = turns.at(index)
    const conn = opening && firstMessageOf(opening)?.conn
    if (conn === undefined) return []
    if (isContinued(turns, index, conn)) return [(turn) => firstMessageOf(turn)?.conn === conn]
    const first = opening?.trigger?.n ?? 0
    const end = handshakes[nth + 1]
    const next = end === undefined ? Infinity : turns.summary(end).frame
    return [(turn) => isWithin(firstMessageOf(turn)?.n, first, next)]
  })
}

/** A view of the turns for the nth session of a run, in which equal turns of the nth recorded session come first. */
export function preferNthSession(
  turns: TurnStore,
  {
    server,
    nth,
    isOverHttp,
  }: { readonly server: string; readonly nth: number; readonly isOverHttp: boolean },
): TurnStore {
  // Over HTTP, a connection may be a single exchange.
  const sessions = isOverHttp ? sessionFilters(turns) : connectionFilters(turns, server)
  const isOwn = sessions.length > 1 ? sessions[nth % sessions.length] : undefined
  return isOwn === undefined ? turns : preferTurns(turns, isOwn)
}

function connectionFilters(turns: TurnStore, server: string): readonly SessionFilter[] {
  const connections = new Set<number>()
  for (let index = 0; index < turns.size; index++) {
    const turn = turns.summary(index).server === server ? turns.at(index) : undefined
    const first = turn && firstMessageOf(turn)
    if (first !== undefined) connections.add(first.conn)
  }
  return [...connections].map((conn) => (turn) => firstMessageOf(turn)?.conn === conn)
}

/** The first message of a turn says where and when the turn was recorded. */
export function firstMessageOf({ trigger, steps: [first] }: Turn): RecordedMessage | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

// A client continues right after its handshake, and few other clients send something in between.
const LOOKAHEAD_TURNS = 64

function isContinued(turns: TurnStore, handshake: number, conn: number): boolean {
  const end = Math.min(handshake + LOOKAHEAD_TURNS, turns.size)
  for (let index = handshake + 1; index < end; index++) {
    const turn = turns.at(index)
    if (turn !== undefined && firstMessageOf(turn)?.conn === conn) return true
  }
  return false
}

function isWithin(n: number | undefined, from: number, to: number): boolean {
  return n !== undefined && n >= from && n < to
}
