import { clientCallOf, turnsInMemory, type TurnsByKey, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { requestKey, type RequestContent } from './request-key.ts'
import type { PathPattern } from '../json/path.ts'

/** The recorded notifications of the client, and what each set off. They are never answered, so none can miss. */
export class NotificationMatcher {
  readonly #ignore: readonly PathPattern[]
  /** Shared by all connections, and never changed. */
  readonly #recorded: KeyedNotifications
  /** By the first place of a notification, where to look for its next recording. */
  readonly #next = new Map<number, number>()

  constructor(turns: readonly Turn[] | TurnStore | KeyedNotifications, ignore: readonly PathPattern[] = []) {
    this.#ignore = ignore
    this.#recorded = 'keyed' in turns ? turns : keyNotifications(turns, ignore)
  }

  /** The same notifications for another connection: none of them is used yet. */
  forNewConnection(): NotificationMatcher {
    return new NotificationMatcher(this.#recorded, this.#ignore)
  }

  /** The next recorded turn that this notification sets off; none when it is not on the tape, or used up. */
  take(asked: RequestContent): Turn | undefined {
    const { store, keyed } = this.#recorded
    const key = requestKey(asked, this.#ignore)
    const first = keyed.first(key)
    for (let at = this.#next.get(first) ?? first; at >= 0; at = keyed.after(at)) {
      const turn = store.outline(at).trigger === 'notification' ? store.turn(at) : undefined
      if (turn === undefined || !(keyed.isExact || this.#hasKey(key, turn))) continue
      this.#next.set(first, keyed.after(at))
      return turn
    }
    return undefined
  }

  #hasKey(key: string, turn: Turn): boolean {
    const called = clientCallOf(turn)
    return called !== undefined && requestKey(called, this.#ignore) === key
  }
}

interface KeyedNotifications {
  readonly store: TurnStore
  readonly keyed: TurnsByKey
}

function keyNotifications(
  turns: readonly Turn[] | TurnStore,
  ignore: readonly PathPattern[],
): KeyedNotifications {
  const store = 'size' in turns ? turns : turnsInMemory(turns)
  const keyOf =
    ignore.length === 0 ? requestKey : (asked: RequestContent): string => requestKey(asked, ignore)
  return { store, keyed: store.keyedBy(keyOf) }
}
