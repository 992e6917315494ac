import type { Server } from 'node:http'
import { HostCheck } from '../../http/host-check.ts'
import {
  discardBody,
  type ServedHandler,
  type ServedRequest,
  type ServedResponse,
  sendErrorResponse,
} from '../../http/server/served-exchange.ts'
import { FastListener } from '../../http/server/fast-listener.ts'
import { createHttpServer, listenOn, type ListenAddress } from '../../http/server/listen.ts'
import { sendHttpError } from './posted-message.ts'

/** A listener on this machine that hands each request to whoever has its path. */
export class HttpRouter {
  readonly #listen: ListenAddress
  readonly #server: Server
  readonly #plain: FastListener | undefined
  readonly #door: HostCheck
  readonly #handlers = new Map<string, ServedHandler>()
  #closed: Promise<void> | undefined

  /** `now` dates the answers, where it is not the clock on the wall that does. */
  constructor(listen: ListenAddress, now?: () => number) {
    this.#listen = listen
    this.#door = new HostCheck(listen.host)
    this.#server = createHttpServer()
    this.#server.on('request', (req, res) => {
      if (now !== undefined) res.setHeader('Date', new Date(now()).toUTCString())
      this.#answer(req, res)
    })
    this.#plain = now === undefined ? new FastListener(this.#server, this.#answer) : undefined
  }

  route(path: string, handler: ServedHandler): void {
    this.#handlers.set(path, handler)
  }

  /** Begins to listen, and says where. */
  async listen(): Promise<string> {
    return listenOn(this.#server, this.#listen)
  }

  /** Stops to listen and lets go of every client; may be called twice. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      // In the next round, so that the ends of streams are on their way.
      setImmediate(() => {
        this.#plain?.close()
        this.#server.closeAllConnections()
      })
    })
    return this.#closed
  }

  readonly #answer = (req: ServedRequest, res: ServedResponse): void => {
    const why = this.#door.rejectionReason(req.rawHeaders)
    const handler = this.#handlers.get(pathOf(req))
    if (why === undefined && handler !== undefined) return handler(req, res)
    discardBody(req)
    if (why !== undefined) sendErrorResponse(res, 403, why)
    else sendHttpError(res, { status: 404, code: -32000, message: `nothing is served at ${pathOf(req)}` })
  }
}

function pathOf({ url = '/' }: ServedRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}
