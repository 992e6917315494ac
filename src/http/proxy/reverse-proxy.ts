import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { HostCheck, isLoopback } from '../host-check.ts'
import {
  ProxiedExchange,
  type ExchangeWatcher,
  type RequestLine,
  OpenExchanges,
  type Upstream,
} from './proxied-exchange.ts'
import { createHttpServer, listenOn, type ListenAddress } from '../server/listen.ts'
import { sendErrorResponse } from '../server/served-exchange.ts'
import type { AddedHeader } from '../headers.ts'
import { bareHost } from '../server-url.ts'
import { HttpClient } from '../client/http-client.ts'

interface ReverseProxyOptions {
  readonly url: URL
  readonly listen: ListenAddress
  /** Headers that are added to every request. */
  readonly added?: readonly AddedHeader[]
}

export interface ProxyWatcher {
  readonly watch: (request: RequestLine) => ExchangeWatcher
  readonly refused: (why: string) => void
}

/**
 * A reverse proxy that changes nothing: heads keep their spelling and order, bodies pass as they come. Nothing is ever
 * sent to the server twice, and when one side leaves, the other is told at once.
 */
export class ReverseProxy {
  readonly #options: ReverseProxyOptions
  readonly #upstream: Upstream
  readonly #server: Server = createHttpServer()
  readonly #hostCheck: HostCheck
  readonly #exchanges = new OpenExchanges()
  #closed: Promise<void> | undefined

  constructor(options: ReverseProxyOptions) {
    this.#options = options
    const { url, added = [] } = options
    // A server on this machine checks the Host that its client sent; a server elsewhere must see its own.
    const host = isLoopback(bareHost(url)) ? undefined : url.host
    this.#upstream = { client: new HttpClient(), url, added, host, rewritesEndpoint: true }
    this.#hostCheck = new HostCheck(options.listen.host)
  }

  /** Begins to listen, and says where; `begin` is called before the first request can come, and only when listening is possible. */
  async listen<Watcher extends ProxyWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const origin = await listenOn(this.#server, this.#options.listen)
    const watcher = begin()
    this.#server.on('request', (req, res) => this.#forward(watcher, req, res))
    return { origin, watcher }
  }

  /** Ends open exchanges and stops to listen; may be called twice. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#exchanges.stop()
      this.#server.close(() => resolve())
      // In the next round, so that the ends of streams are on their way.
      setImmediate(() => this.#server.closeAllConnections())
      this.#upstream.client.close()
    })
    return this.#closed
  }

  #forward({ watch, refused }: ProxyWatcher, req: IncomingMessage, res: ServerResponse): void {
    const line = {
      method: req.method ?? '',
      path: pathOfRequestTarget(req.url ?? '/'),
      headers: req.rawHeaders,
    }
    const why = this.#hostCheck.rejectionReason(line.headers)
    if (why === undefined)
      return this.#exchanges.start(new ProxiedExchange(this.#upstream, line, watch(line)), req, res)
    refused(why)
    req.resume()
    sendErrorResponse(res, 403, why)
  }
}

/** A client may name the whole URL, as it would to a forward proxy. */
function pathOfRequestTarget(target: string): string {
  if (target.startsWith('/') || !URL.canParse(target)) return target
  const { pathname, search } = new URL(target)
  return pathname + search
}
