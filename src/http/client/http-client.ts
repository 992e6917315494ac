import { HttpConnection, type HttpExchange, type RequestHead, type ResponseHandlers } from './connection.ts'

export interface HttpClientOptions {
  /** Closes a connection that is idle for this long; by default 2000 ms. */
  readonly maxIdleMs?: number
}

// A request is never sent twice, so it must not go to a connection that the server is just closing. Most servers keep an
// idle connection for five seconds or more.
const MAX_IDLE_MS = 2000

/**
 * A small HTTP/1.1 client on sockets, several times as fast as `fetch` or `node:http` (docs/decisions/0013). It keeps idle
 * connections per origin and uses the most recent one first. It follows no redirects and never retries.
 */
export class HttpClient {
  readonly #maxIdleMs: number
  readonly #connections = new Set<HttpConnection>()
  readonly #idle = new Map<string, HttpConnection[]>()
  #sweep: NodeJS.Timeout | undefined

  constructor({ maxIdleMs = MAX_IDLE_MS }: HttpClientOptions = {}) {
    this.#maxIdleMs = maxIdleMs
  }

  /** Starts an exchange with the server at this URL. The caller sends the body and ends the request. */
  send(url: URL, head: RequestHead, handlers: ResponseHandlers): HttpExchange {
    return this.#connectionTo(url).start(head, handlers)
  }

  /** Closes all connections. The handlers of exchanges that are still open are not called. */
  close(): void {
    clearTimeout(this.#sweep)
    for (const connection of this.#connections) connection.close()
  }

  #connectionTo(url: URL): HttpConnection {
    const idle = this.#idle.get(url.origin)
    for (let known = idle?.pop(); known !== undefined; known = idle?.pop()) {
      if (known.isReusable(performance.now())) return known // the timer may be late on a busy machine
      known.close()
    }
    const connection = new HttpConnection(url, {
      maxIdleMs: this.#maxIdleMs,
      onIdle: (free) => this.#keep(free),
      onClose: (closed) => this.#remove(closed),
    })
    this.#connections.add(connection)
    return connection
  }

  #keep(free: HttpConnection): void {
    const idle = this.#idle.get(free.origin)
    if (idle === undefined) this.#idle.set(free.origin, [free])
    else idle.push(free)
    this.#sweep ??= setTimeout(() => this.#closeIdle(), this.#maxIdleMs).unref()
  }

  /** One timer serves all connections: setting one for every request would cost a few percent of its CPU time. */
  #closeIdle(): void {
    const now = performance.now()
    const idle = [...this.#idle.values()].flat()
    for (const connection of idle) if (!connection.isReusable(now)) connection.close()
    this.#sweep =
      idle.length === 0 ? undefined : setTimeout(() => this.#closeIdle(), this.#maxIdleMs / 4).unref()
  }

  #remove(closed: HttpConnection): void {
    this.#connections.delete(closed)
    const idle = this.#idle.get(closed.origin) ?? []
    const at = idle.indexOf(closed)
    if (at >= 0) idle.splice(at, 1)
    if (idle.length === 0) this.#idle.delete(closed.origin)
  }
}
