import { parseJson } from '../json/parse.ts'
import type { KnownResponses } from './known-responses.ts'
import { idKey, type Message, classifyMessage, type Request } from '../protocol/message.ts'

/** A client's connection to a server. */
export interface ClientLink {
  /**
   * Sends one JSON text. `message` is its parsed form, if the caller has it. `onSettled` is called once, when the next
   * message can be sent without overtaking this one.
   */
  send(text: string, message?: Message, onSettled?: () => void): void
  /**
   * Sends a request like `send`, in a third of the time: a response that is one JSON body goes straight to the exchange. Any other
   * end is reported like that of `send`, after `differs`. Returns false if the link cannot do this; nothing was sent then.
   */
  exchange?(exchange: LinkExchange): boolean
  /** Gives a request up by closing the stream of its response. Returns false if the server has to be sent a notification instead. */
  abort?(idKey: string): boolean
  /** Closes the link, and ends the server if the link started it. A server that does not leave is waited for less long if the caller is in a hurry. */
  close(how?: { readonly isHurried: boolean }): Promise<void>
}

/** A request that is sent in a short way, and what becomes of it. */
export interface LinkExchange {
  readonly text: string
  /** Whether the text is known to be ASCII. */
  readonly isAscii: boolean
  /** The id in the text, as JSON. */
  readonly id: string
  /** The parsed text, which may have another id. */
  readonly request: Request
  /** The responses that were read before. */
  readonly known: KnownResponses | undefined
  /** The first bytes of the response have arrived. */
  responding(): void
  /** The JSON body, which was not checked. Returns true if it is the response to the request, and an equal one need not be read again. */
  answered(text: string): boolean
  /** The whole response arrived, and is known except for its id. */
  answeredAsKnown(): void
  /** The response is no JSON body with status 200: it arrives like that to a message of `send`. */
  differs(): void
}

export interface LinkHandlers {
  /** One JSON text of the server, or what it sent instead. `of` is the id key of the request in whose response stream it arrived, if known. */
  readonly onText: (text: string, of?: string) => void
  /** The first bytes of the response to a request have arrived. Only links over HTTP report this. */
  readonly onResponding?: (idKey: string) => void
  /** A request will get no response. */
  readonly onLost: (idKey: string, why: string, refusal?: HttpRefusal) => void
  /** The server did not accept a message that expects no response. */
  readonly onRejected?: (why: string, refusal?: HttpRefusal) => void
  /** Nothing more will come. */
  readonly onEnd: (why: string) => void
  /** Gives the link up, even before it is open. */
  readonly signal?: AbortSignal
}

/** An HTTP response that is not a response to the message that was posted. */
export interface HttpRefusal {
  readonly status: number
  readonly body: string
  /** The `Location` header. */
  readonly location: string | undefined
  /** The server no longer knows the session. */
  readonly isSessionLost: boolean
}

/** Opens a link. Throws what can be found wrong at once, such as an unknown command or host. */
export type OpenLink = (handlers: LinkHandlers) => Promise<ClientLink>

/** The id keys of the requests in a message. */
export function requestKeys(message: Message): readonly string[] {
  if (message.kind === 'request') return [idKey(message.id)]
  return message.kind === 'batch' ? message.items.flatMap(requestKeys) : []
}

/** The id keys of the requests that a text responds to. */
export function responseKeys(text: string): readonly string[] {
  if (!text.includes('"result"') && !text.includes('"error"')) return []
  const message = classifyMessage(parseJson(text))
  return (message.kind === 'batch' ? message.items : [message]).flatMap((item) =>
    item.kind === 'response' && item.id !== null ? [idKey(item.id)] : [],
  )
}
