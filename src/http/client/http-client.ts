import { HttpConnection, type HttpResponseHandlers } from '../../transport/http1/connection.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A request that is on its way. */
export interface PendingHttpRequest {
  /** Nobody is told any more of what comes. */
  abort(): void
}

/**
 * A small HTTP/1.1 client on sockets, for the hot path of replay and load: some ten times as many requests a second as
 * `fetch`. Nothing is ever sent twice: an idle connection that the server has closed meanwhile fails its request.
 */
export class HttpClient {
  readonly #idle = new Map<string, HttpConnection[]>()
  readonly #all = new Set<HttpConnection>()
  /** Heads by their headers: thousands of requests have the same. */
  readonly #heads = new WeakMap<HttpRequest['headers'], FormattedRequestHead>()

  send(request: HttpRequest, handlers: HttpResponseHandlers): PendingHttpRequest {
    const { method, url, body } = request
    const head = this.#headOf(request)
    if (head === undefined) return rejectUnwritable(handlers)
    const text =
      body === undefined ? `${head}\r\n` : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    const connection = this.#connectionTo(url)
    connection.send(method, text, handlers)
    return { abort: () => connection.abort(handlers) }
  }

  close(): void {
    for (const connection of this.#all) connection.destroy()
    this.#all.clear()
    this.#idle.clear()
  }

  #headOf({ method, url, headers }: HttpRequest): string | undefined {
    const known = this.#heads.get(headers)
    if (known?.method === method && known.url === url) return known.text
    const text = formatClientHead(method, url, headers)
    this.#heads.set(headers, { method, url, text })
    return text
  }

  #connectionTo(url: URL): HttpConnection {
    const idle = this.#idle.get(url.origin) ?? []
    for (let known = idle.pop(); known !== undefined; known = idle.pop()) {
      if (known.isUsable) return known
      this.#drop(known)
    }
    const connection = new HttpConnection(url, (one) => this.#keepIdle(url.origin, one))
    this.#all.add(connection)
    return connection
  }

  #keepIdle(origin: string, connection: HttpConnection): void {
    const idle = this.#idle.get(origin) ?? []
    idle.push(connection)
    this.#idle.set(origin, idle)
  }

  #drop(connection: HttpConnection): void {
    this.#all.delete(connection)
    connection.destroy()
  }
}

function rejectUnwritable({ onError }: HttpResponseHandlers): PendingHttpRequest {
  queueMicrotask(() => onError('a header of the request cannot be written'))
  return { abort: () => {} }
}

interface FormattedRequestHead extends Pick<HttpRequest, 'method' | 'url'> {
  readonly text: string | undefined
}

/** Undefined when a header would be read as something else than it is: its text may come from a tape or a server. */
function formatClientHead(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || INVALID_VALUE.test(value)) return undefined
    head += `${name}: ${value}\r\n`
  }
  return head
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/
const INVALID_VALUE = /[^\t\u0020-\u007e]/
