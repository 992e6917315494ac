import type { Turn } from '../tape/turn.ts'
import { requestKey, type Asked } from './key.ts'
import type { Path } from '../wire/path.ts'

/** The recorded notifications of the client, and what each set off. They are never answered, so none can miss. */
export class NoticeIndex {
  readonly #ignore: readonly Path[]
  /** Shared by all connections, and never changed. */
  readonly #recorded: ReadonlyMap<string, readonly Turn[]>
  readonly #used = new Map<string, number>()

  constructor(turns: readonly Turn[] | ReadonlyMap<string, readonly Turn[]>, ignore: readonly Path[] = []) {
    this.#ignore = ignore
    this.#recorded = 'length' in turns ? noticesByKey(turns, ignore) : turns
  }

  /** The same notifications for another connection: none of them is used yet. */
  another(): NoticeIndex {
    return new NoticeIndex(this.#recorded, this.#ignore)
  }

  /** The next recorded turn that this notification sets off; none when it is not on the tape, or used up. */
  take(asked: Asked): Turn | undefined {
    const key = requestKey(asked, this.#ignore)
    const used = this.#used.get(key) ?? 0
    this.#used.set(key, used + 1)
    return this.#recorded.get(key)?.[used]
  }
}

function noticesByKey(turns: readonly Turn[], ignore: readonly Path[]): ReadonlyMap<string, readonly Turn[]> {
  const byKey = new Map<string, Turn[]>()
  for (const turn of turns) {
    const { trigger } = turn
    if (trigger?.message.kind !== 'notification') continue
    const { method, params } = trigger.message
    const key = requestKey({ server: trigger.server, method, params }, ignore)
    byKey.set(key, [...(byKey.get(key) ?? []), turn])
  }
  return byKey
}
