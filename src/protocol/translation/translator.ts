import type { JsonObject } from '../../json/parse.ts'
import type { Id, Message, Response } from '../message.ts'

/**
 * Lets a client of one era use a server of the other. It has no I/O: messages come in by its methods and leave by its ports. Each end
 * only sees messages of its own era.
 */
export interface Translator {
  fromClient(text: string, message: Message): void
  /** `of` is the id of the request in whose response stream the message came, if the transport tells. */
  fromServer(text: string, message: Message, of?: Id): void
  /** The client no longer waits for the response to a request. */
  cancel(id: Id): void
  /** The server will not answer a request. Returns the id of the client's request that ends with it, if there is one. */
  lost(id: Id): Id | undefined
}

export interface TranslatorPorts {
  /** `of` is the id of the client's request that the message belongs to. A response belongs to the request with its id. */
  readonly toClient: (text: string, of?: Id) => void
  readonly toServer: (text: string) => void
  readonly cancelAtServer: (id: Id) => void
  readonly later: (milliseconds: number, run: () => void) => void
}

export interface TranslatorOptions {
  /** The version that the server is spoken to in. */
  readonly version: string
  /** The error code of a resource that does not exist. It has changed with 2026-07-28, but servers of both eras use both codes. */
  readonly notFoundCode?: number | undefined
  /** What the client can do in any of its requests. A session is opened once, with all of it. */
  readonly clientCapabilities?: JsonObject
  /** Rounds of input have a requestState, because the recorded client sends one back. */
  readonly givesState?: boolean
  /** Rounds of input have an empty `content`, because those of the recorded server have one. */
  readonly givesContent?: boolean
  /** The filters of all subscriptions that the server accepts, if it is a recorded one. By default it accepts any. */
  readonly filters?: readonly unknown[]
}

/** Requests that a translator itself sends to the server. */
export class OwnRequests {
  readonly #toServer: (text: string) => void
  readonly #open = new Map<Id, (response: Response) => void>()
  #count = 0

  constructor({ toServer }: Pick<TranslatorPorts, 'toServer'>) {
    this.#toServer = toServer
  }

  newId(): string {
    return `reelay-${++this.#count}`
  }

  send(method: string, params: object, onResponse: (response: Response) => void, id: Id = this.newId()): Id {
    this.#open.set(id, onResponse)
    this.#toServer(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return id
  }

  /** Returns true if the response belongs to one of these requests. */
  take(response: Response): boolean {
    const onResponse = response.id === null ? undefined : this.#open.get(response.id)
    if (response.id === null || onResponse === undefined) return false
    this.#open.delete(response.id)
    onResponse(response)
    return true
  }

  /** A request that gets no response ends with an error. */
  lose(id: Id): boolean {
    const error = { code: -32000, message: 'the server did not answer' }
    return this.take({ kind: 'response', id, outcome: { error } })
  }
}
