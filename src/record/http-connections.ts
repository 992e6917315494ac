import { findHeader, type RawHeaders } from '../http/headers.ts'
import type { RequestLine } from '../http/proxy/proxied-exchange.ts'

/**
 * Which connection an HTTP exchange belongs to. A session, named by its header or by the endpoint of a legacy SSE stream,
 * is one connection. Without a session, as always in the modern era, each exchange is its own: ids may repeat between them.
 */
export class ConnectionNumbers {
  readonly #sessions = new Map<string, number>()
  readonly #endpoints = new Map<string, number>()
  #last = 0

  numberFor({ path, headers, origin = '' }: RequestLine): number {
    const session = findHeader(headers, SESSION_HEADER)
    const known = session === undefined ? this.#endpoints.get(origin + path) : this.#sessions.get(session)
    if (known !== undefined) return known
    const conn = ++this.#last
    if (session !== undefined) this.#sessions.set(session, conn)
    return conn
  }

  /** The server named the session in its answer. */
  learnSession(conn: number, headers: RawHeaders): void {
    const session = findHeader(headers, SESSION_HEADER)
    if (session !== undefined && !this.#sessions.has(session)) this.#sessions.set(session, conn)
  }

  /** A legacy SSE stream named the path that its client is to post to; with its origin, where there are several servers. */
  learnEndpoint(conn: number, path: string): void {
    this.#endpoints.set(path, conn)
  }

  isEndpoint(path: string): boolean {
    return this.#endpoints.has(path)
  }
}

const SESSION_HEADER = 'mcp-session-id'
