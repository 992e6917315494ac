import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { MAX_HEAD_BYTES } from '../transport/http-heads.ts'
import type { OwnHeader } from '../transport/own-headers.ts'

/** The way to the server that a bridge leads to. */
export interface Requests {
  readonly url: URL
  /** What we add to every request. It goes to this server alone: no redirect to another is followed. */
  readonly own: readonly OwnHeader[]
  readonly request: (options: { method: string; path: string; headers: string[] }) => ClientRequest
  readonly close: () => void
}

export function openRequests(url: URL, own: readonly OwnHeader[]): Requests {
  const isSecure = url.protocol === 'https:'
  const agent = isSecure ? new TlsSockets(SOCKETS) : new PlainSockets(SOCKETS)
  const host = url.hostname.replaceAll(/[[\]]/g, '')
  const base: RequestOptions & { servername?: string } = {
    agent,
    host,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    maxHeaderSize: MAX_HEAD_BYTES,
    setHost: false,
    ...(isSecure && { servername: isIP(host) === 0 ? host : '' }),
  }
  const send = isSecure ? httpsRequest : httpRequest
  return { url, own, request: (options) => send({ ...base, ...options }), close: () => agent.destroy() }
}

const SOCKETS = { keepAlive: true, noDelay: true, scheduling: 'lifo' } as const

// Nothing is sent twice, so a request must not meet a socket that the server is just closing: most servers keep an idle one for 5 seconds or more.
const IDLE_MS = 2000

class PlainSockets extends HttpAgent {
  override keepSocketAlive(socket: Socket): boolean {
    return keepBriefly(socket)
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0)
    super.reuseSocket(socket, request)
  }
}

class TlsSockets extends HttpsAgent {
  override keepSocketAlive(socket: Socket): boolean {
    return keepBriefly(socket)
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0)
    super.reuseSocket(socket, request)
  }
}

function keepBriefly(socket: Socket): boolean {
  socket.setKeepAlive(true)
  socket.unref()
  socket.setTimeout(IDLE_MS)
  return true
}
