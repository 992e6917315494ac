import { describeValue } from '../match/describe-request.ts'
import { idKey } from '../protocol/id.ts'
import { replaceValue } from '../json/find.ts'
import { member, type Message, type Response } from '../protocol/message.ts'

const HANDSHAKE_ID = 'reelay-live-initialize'

/** What a link calls this request when it is lost. */
export const UPSTREAM_HANDSHAKE_KEY: string = idKey(HANDSHAKE_ID)

/** The client's `initialize`, kept to open a live server with it; a modern server needs none. */
export class UpstreamHandshake {
  #initialize: string | undefined
  #settle: (() => void) | undefined
  #reject: ((error: Error) => void) | undefined

  observe(text: string, message: Message): void {
    if (message.kind === 'request' && message.method === 'initialize') this.#initialize = text
  }

  async perform(send: (text: string) => void): Promise<void> {
    if (this.#initialize === undefined) return
    const answered = new Promise<void>((resolve, reject) => {
      this.#settle = resolve
      this.#reject = reject
    })
    send(replaceValue(this.#initialize, ['id'], JSON.stringify(HANDSHAKE_ID)))
    await answered
    send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  }

  /** Takes an answer of the server, when it is to this. */
  receiveAnswer({ id, outcome }: Response): boolean {
    if (id !== HANDSHAKE_ID) return false
    if ('error' in outcome)
      this.fail(`it refused initialize: ${describeValue(member(outcome.error, 'message'))}`)
    else this.#settle?.()
    return true
  }

  fail(why: string): void {
    this.#reject?.(new Error(why))
  }
}
