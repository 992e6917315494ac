import { calledIn, heldTurns, type KeyedPlaces, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { requestKey, type Asked } from './key.ts'
import type { Path } from '../wire/path.ts'

/** The recorded notifications of the client, and what each set off. They are never answered, so none can miss. */
export class NoticeIndex {
  readonly #ignore: readonly Path[]
  /** Shared by all connections, and never changed. */
  readonly #recorded: Notices
  /** By the first place of a notification, where to look for its next recording. */
  readonly #next = new Map<number, number>()

  constructor(turns: readonly Turn[] | TurnStore | Notices, ignore: readonly Path[] = []) {
    this.#ignore = ignore
    this.#recorded = 'keyed' in turns ? turns : noticesIn(turns, ignore)
  }

  /** The same notifications for another connection: none of them is used yet. */
  another(): NoticeIndex {
    return new NoticeIndex(this.#recorded, this.#ignore)
  }

  /** The next recorded turn that this notification sets off; none when it is not on the tape, or used up. */
  take(asked: Asked): Turn | undefined {
    const { store, keyed } = this.#recorded
    const key = requestKey(asked, this.#ignore)
    const first = keyed.first(key)
    for (let at = this.#next.get(first) ?? first; at >= 0; at = keyed.after(at)) {
      const turn = store.outline(at).trigger === 'notification' ? store.turn(at) : undefined
      if (turn === undefined || !(keyed.isExact || this.#isUnder(key, turn))) continue
      this.#next.set(first, keyed.after(at))
      return turn
    }
    return undefined
  }

  #isUnder(key: string, turn: Turn): boolean {
    const called = calledIn(turn)
    return called !== undefined && requestKey(called, this.#ignore) === key
  }
}

interface Notices {
  readonly store: TurnStore
  readonly keyed: KeyedPlaces
}

function noticesIn(turns: readonly Turn[] | TurnStore, ignore: readonly Path[]): Notices {
  const store = 'size' in turns ? turns : heldTurns(turns)
  const keyOf = ignore.length === 0 ? requestKey : (asked: Asked): string => requestKey(asked, ignore)
  return { store, keyed: store.keyedBy(keyOf) }
}
