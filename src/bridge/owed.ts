import { idKey, type Id } from '../protocol/id.ts'
import type { Message } from '../protocol/message.ts'

/** The answers that one POST is owed. */
export class UnansweredIds {
  readonly #ids = new Map<string, Id>()
  readonly #onSettled: (() => void) | undefined

  /** `onSettled` is told when the last of them is there. */
  constructor(message: Message, onSettled?: () => void) {
    this.#onSettled = onSettled
    for (const item of message.kind === 'batch' ? message.items : [message])
      if (item.kind === 'request') this.#ids.set(idKey(item.id), item.id)
  }

  get ids(): readonly Id[] {
    return [...this.#ids.values()]
  }

  get isSettled(): boolean {
    return this.#ids.size === 0
  }

  has(id: Id): boolean {
    return this.#ids.has(idKey(id))
  }

  /** An answer came, or is no longer wanted. */
  settle(id: Id): void {
    if (this.#ids.delete(idKey(id)) && this.isSettled) this.#onSettled?.()
  }
}
