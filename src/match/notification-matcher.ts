import { turnStoreOf, type KeyedTurns, type Turns, type TurnStore } from '../tape/turns.ts'
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

  constructor(turns: readonly Turn[] | Turns | KeyedNotifications, ignore: readonly PathPattern[] = []) {
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
    for (let at = this.#next.get(first) ?? first; at >= 0; at = keyed.next(at)) {
      const turn = store.summary(at).trigger === 'notification' ? keyed.read(at, key) : undefined
      if (turn === undefined) continue
      this.#next.set(first, keyed.next(at))
      return turn
    }
    return undefined
  }
}

interface KeyedNotifications {
  readonly store: TurnStore
  readonly keyed: KeyedTurns
}

function keyNotifications(
  turns: readonly Turn[] | Turns,
  ignore: readonly PathPattern[],
): KeyedNotifications {
  const store = turnStoreOf(turns)
  const keyOf =
    ignore.length === 0 ? requestKey : (asked: RequestContent): string => requestKey(asked, ignore)
  return { store, keyed: store.keyedBy(keyOf) }
}
