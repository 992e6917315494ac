import type { Reply } from './reply.ts'

/** The way out for what one message of the client sets off. On a pipe it is always the same; on HTTP each exchange has its own. */
export interface Outlet {
  /** Tells its ids from those of other outlets; the same for all where ids belong to the connection. */
  readonly scope: string
  /** Takes what comes before and after the answer. */
  readonly send: (text: string) => void
  /** Takes the answer to the request, or to the batch. */
  readonly reply: Reply
}

/** The only way out of a connection that has one. */
export function singleOutlet(send: (text: string) => void): Outlet {
  return {
    scope: '',
    send,
    reply: (text) => {
      if (text !== undefined) send(text)
    },
  }
}
