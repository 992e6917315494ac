import { parseJson } from '../json/parse.ts'
import { classifyMessage, idFromKey, idKey, type Id, type Message } from '../protocol/message.ts'
import type { Revision } from '../protocol/revisions/revision.ts'
import type { Translator, TranslatorOptions } from '../protocol/translation/translator.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'

/** A link over which a client of one era uses a server of the other. `client` is the revision of the client. */
export function translatedLink(open: OpenLink, client: Revision, options: TranslatorOptions): OpenLink {
  return async (handlers) => {
    const link = new TranslatedLink(handlers, client, options)
    await link.open(open)
    return link
  }
}

class TranslatedLink implements ClientLink {
  readonly #handlers: LinkHandlers
  readonly #translator: Translator
  readonly #timers = new Set<NodeJS.Timeout>()
  #link: ClientLink | undefined
  /** Called when the next message for the server is sent. */
  #onSettled: (() => void) | undefined

  constructor(handlers: LinkHandlers, client: Revision, options: TranslatorOptions) {
    this.#handlers = handlers
    this.#translator = client.translator(options, {
      toClient: (text, of) => handlers.onText(text, of === undefined ? undefined : idKey(of)),
      toServer: (text) => this.#toServer(text),
      cancelAtServer: (id) => this.#cancel(id),
      later: (milliseconds, run) => this.#later(milliseconds, run),
    })
  }

  async open(open: OpenLink): Promise<void> {
    this.#link = await open({
      ...this.#handlers,
      onText: (text, of) =>
        this.#translator.fromServer(
          text,
          classifyMessage(parseJson(text)),
          of === undefined ? undefined : idFromKey(of),
        ),
      onLost: (key, why, refusal) => {
        const id = this.#translator.lost(idFromKey(key))
        if (id !== undefined) this.#handlers.onLost(idKey(id), why, refusal)
      },
    })
  }

  send(text: string, message: Message = classifyMessage(parseJson(text)), onSettled?: () => void): void {
    this.#onSettled = onSettled
    this.#translator.fromClient(text, message)
    const settle = this.#onSettled
    this.#onSettled = undefined
    settle?.()
  }

  async close(how?: Parameters<ClientLink['close']>[0]): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    await this.#link?.close(how)
  }

  #toServer(text: string): void {
    const onSettled = this.#onSettled
    this.#onSettled = undefined
    this.#link?.send(text, undefined, onSettled)
  }

  #cancel(requestId: Id): void {
    if (this.#link?.abort?.(idKey(requestId)) === true) return
    this.#link?.send(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
    )
  }

  #later(milliseconds: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, milliseconds)
    this.#timers.add(timer)
  }
}
