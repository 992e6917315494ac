import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { MAX_HEAD_BYTES } from '../http/headers.ts'
import type { AddedHeader } from '../transport/own-headers.ts'

/** The way to the server that a bridge leads to. */
export interface BridgeTarget {
  readonly url: URL
  /** What we add to every request. It goes to this server alone: no redirect to another is followed. */
  readonly own: readonly AddedHeader[]
  readonly request: (options: { method: string; path: string; headers: string[] }) => ClientRequest
  readonly close: () => void
}

export function openBridgeTarget(url: URL, own: readonly AddedHeader[]): BridgeTarget {
  const isSecure = url.protocol === 'https:'
  const agent = isSecure ? new TlsAgent(AGENT_OPTIONS) : new PlainAgent(AGENT_OPTIONS)
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

const AGENT_OPTIONS = { keepAlive: true, noDelay: true, scheduling: 'lifo' } as const

// Nothing is sent twice, so a request must not meet a socket that the server is just closing: most servers keep an idle one for 5 seconds or more.
const IDLE_MS = 2000

class PlainAgent extends HttpAgent {
  override keepSocketAlive(socket: Socket): boolean {
    return keepIdleBriefly(socket)
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0)
    super.reuseSocket(socket, request)
  }
}

class TlsAgent extends HttpsAgent {
  override keepSocketAlive(socket: Socket): boolean {
    return keepIdleBriefly(socket)
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.setTimeout(0)
    super.reuseSocket(socket, request)
  }
}

function keepIdleBriefly(socket: Socket): boolean {
  socket.setKeepAlive(true)
  socket.unref()
  socket.setTimeout(IDLE_MS)
  return true
}
