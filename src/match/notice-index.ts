import type { Turn } from '../tape/turn.ts'
import { requestKey, type Asked } from './key.ts'
import type { Path } from '../wire/path.ts'

/** The recorded notifications of the client, and what each set off. They are never answered, so none can miss. */
export class NoticeIndex {
  readonly #ignore: readonly Path[]
  readonly #waiting = new Map<string, Turn[]>()

  constructor(turns: readonly Turn[], ignore: readonly Path[] = []) {
    this.#ignore = ignore
    for (const turn of turns) this.#add(turn)
  }

  /** The next recorded turn that this notification sets off; none when it is not on the tape, or used up. */
  take(asked: Asked): Turn | undefined {
    return this.#waiting.get(requestKey(asked, this.#ignore))?.shift()
  }

  #add(turn: Turn): void {
    const { trigger } = turn
    if (trigger?.message.kind !== 'notification') return
    const { method, params } = trigger.message
    const key = requestKey({ server: trigger.server, method, params }, this.#ignore)
    const queue = this.#waiting.get(key) ?? []
    queue.push(turn)
    this.#waiting.set(key, queue)
  }
}
