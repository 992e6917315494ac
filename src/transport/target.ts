import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { ReelayError } from '../errors.ts'
import { isLoopback } from './loopback.ts'
import type { OwnHeader } from './own-headers.ts'

/** The server that a proxy stands in front of. */
export interface Target {
  readonly url: URL
  /** A server on this machine judges the Host that its client sent; one elsewhere must see its own. */
  readonly keepsHost: boolean
  /** Whether the client names the server itself, as it does to a forward proxy: then nothing needs to be made to name us. */
  readonly isNamed: boolean
  /** What we add to every request. It goes to this server alone: we follow no redirect. */
  readonly own: readonly OwnHeader[]
  readonly request: (options: { method: string; path: string; headers: string[] }) => ClientRequest
  readonly close: () => void
}

/** Reads the URL of a server, and refuses what cannot be proxied. */
export function readTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw invalid(`${JSON.stringify(text)} is no URL`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(`${url.protocol} is neither http: nor https:`)
  if (url.username !== '' || url.password !== '')
    throw invalid(
      'a URL with a password in it',
      "let the client send the Authorization header, or the recorder: --header 'Authorization: Basic ${env.TOKEN}'",
    )
  return url
}

export interface TargetOptions {
  readonly isNamed?: boolean
  readonly own?: readonly OwnHeader[]
}

export function openTarget(url: URL, { isNamed = false, own = [] }: TargetOptions = {}): Target {
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
  return {
    url,
    keepsHost: isNamed || isLoopback(host),
    isNamed,
    own,
    request: (options) => send({ ...base, ...options }),
    close: () => agent.destroy(),
  }
}

/** As large a head as servers commonly take; Node's own bound is 16 KiB. */
export const MAX_HEAD_BYTES: number = 128 * 1024

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

function invalid(
  why: string,
  hint = 'give the URL that the client would use, such as https://host/mcp',
): ReelayError {
  return new ReelayError('URL_INVALID', `cannot record ${why}`, { hint })
}
