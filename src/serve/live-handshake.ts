import { idKey } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import type { Message } from '../wire/message.ts'

const ID = 'reelay-live-initialize'

/** The client's `initialize`, kept to open a live server with it; a modern server needs none. */
export class LiveHandshake {
  #initialize: string | undefined
  #settle: (() => void) | undefined
  #reject: ((error: Error) => void) | undefined

  hear(text: string, message: Message): void {
    if (message.kind === 'request' && message.method === 'initialize') this.#initialize = text
  }

  async shake(send: (text: string) => void): Promise<void> {
    if (this.#initialize === undefined) return
    const answered = new Promise<void>((resolve, reject) => {
      this.#settle = resolve
      this.#reject = reject
    })
    send(replaceAt(this.#initialize, ['id'], JSON.stringify(ID)))
    await answered
    send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  }

  /** Takes the answer of the server, when it is this one. */
  settle(key: string): boolean {
    if (key !== idKey(ID)) return false
    this.#settle?.()
    return true
  }

  fail(why: string): void {
    this.#reject?.(new Error(why))
  }
}
