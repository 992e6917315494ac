import type { Server } from 'node:http'
import { HostCheck } from '../../http/hosts.ts'
import {
  discardBody,
  type ServedHandler,
  type ServedRequest,
  type ServedResponse,
  sendErrorResponse,
  createHttpServer,
  listenOn,
  type ListenAddress,
} from '../../http/server/http-server.ts'
import { FastListener } from '../../http/server/fast-listener.ts'
import { sendHttpError } from './post-exchange.ts'

/** An HTTP listener that passes each request to the handler of its path. */
export class HttpRouter {
  readonly #listen: ListenAddress
  readonly #server: Server
  readonly #fast: FastListener | undefined
  readonly #hostCheck: HostCheck
  readonly #handlers = new Map<string, ServedHandler>()
  #closed: Promise<void> | undefined

  /** `now` replaces the system time in the `Date` header. */
  constructor(listen: ListenAddress, now?: () => number) {
    this.#listen = listen
    this.#hostCheck = new HostCheck(listen.host)
    this.#server = createHttpServer()
    this.#server.on('request', (req, res) => {
      if (now !== undefined) res.setHeader('Date', new Date(now()).toUTCString())
      this.#dispatch(req, res)
    })
    this.#fast = now === undefined ? new FastListener(this.#server, this.#dispatch) : undefined
  }

  route(path: string, handler: ServedHandler): void {
    this.#handlers.set(path, handler)
  }

  /** Starts to listen and returns the origin of the URL. */
  async listen(): Promise<string> {
    return listenOn(this.#server, this.#listen)
  }

  /** Stops listening and closes all connections. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      // The ends of streams are still to be written, so the connections close a moment later.
      setImmediate(() => {
        this.#fast?.close()
        this.#server.closeAllConnections()
      })
    })
    return this.#closed
  }

  readonly #dispatch = (req: ServedRequest, res: ServedResponse): void => {
    const rejection = this.#hostCheck.rejectionReason(req.rawHeaders)
    const handler = this.#handlers.get(pathOf(req))
    if (rejection === undefined && handler !== undefined) return handler(req, res)
    discardBody(req)
    if (rejection !== undefined) sendErrorResponse(res, 403, rejection)
    else sendHttpError(res, { status: 404, code: -32000, message: `nothing is served at ${pathOf(req)}` })
  }
}

function pathOf({ url = '/' }: ServedRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}
