import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Door } from '../../transport/door.ts'
import { createListener, listenOn, type Listen } from '../../transport/listen.ts'
import { ownAnswer } from '../../transport/own-answer.ts'
import { refuse } from './refusal.ts'

export type Handler = (req: IncomingMessage, res: ServerResponse) => void

/** A listener on this machine that hands each request to whoever has its path. */
export class Front {
  readonly #listen: Listen
  readonly #now: (() => number) | undefined
  readonly #server: Server
  readonly #door: Door
  readonly #handlers = new Map<string, Handler>()
  #closed: Promise<void> | undefined

  /** `now` dates the answers, where it is not the clock on the wall that does. */
  constructor(listen: Listen, now?: () => number) {
    this.#listen = listen
    this.#now = now
    this.#door = new Door(listen.host)
    this.#server = createListener()
    this.#server.on('request', (req, res) => this.#answer(req, res))
  }

  on(path: string, handler: Handler): void {
    this.#handlers.set(path, handler)
  }

  /** Begins to listen, and says where. */
  async open(): Promise<string> {
    return listenOn(this.#server, this.#listen)
  }

  /** Stops to listen and lets go of every client; may be called twice. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      // In the next round, so that the ends of streams are on their way.
      setImmediate(() => this.#server.closeAllConnections())
    })
    return this.#closed
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    if (this.#now !== undefined) res.setHeader('Date', new Date(this.#now()).toUTCString())
    const why = this.#door.refusal(req.rawHeaders)
    const handler = this.#handlers.get(pathOf(req))
    if (why === undefined && handler !== undefined) return handler(req, res)
    req.resume()
    if (why !== undefined) ownAnswer(res, 403, why)
    else refuse(res, { status: 404, code: -32000, message: `nothing is served at ${pathOf(req)}` })
  }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}
