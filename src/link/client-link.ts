import type { Message } from '../protocol/message.ts'

/** A client's way to a server. */
export interface ClientLink {
  /** Sends one JSON text; with what it says, where that is known already. */
  send(text: string, message?: Message): void
  /** Gives a request up by closing the stream that waits for its answer; false where the server has to be told in words. */
  abort?(idKey: string): boolean
  /** Ends the link, and the server if the link started it; may be called twice. A server that stays is not waited for as long when somebody is in a hurry. */
  close(how?: { readonly isHurried: boolean }): Promise<void>
}

export interface LinkHandlers {
  /** One JSON text of the server, or what it sent in its place; `of` is the key of the request in whose answer it came, where the link can tell. */
  readonly onText: (text: string, of?: string) => void
  /** A request that will never be answered, by the key of its id, and why; with the HTTP status that said so. */
  readonly onLost: (idKey: string, why: string, status?: number) => void
  /** Nothing comes any more. */
  readonly onEnd: (why: string) => void
  /** Whoever opens the link does not want it any more, also before it is open. */
  readonly signal?: AbortSignal
}

/** Opens a link. What can be found wrong at once (no such command, no such host) is thrown. */
export type OpenLink = (handlers: LinkHandlers) => Promise<ClientLink>
