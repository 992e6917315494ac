import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { ReelayError } from '../../errors.ts'
import { isLoopback } from '../host-check.ts'
import type { AddedHeader } from '../headers.ts'
import { UpstreamRequest, type UpstreamRequestHead, UpstreamPool } from './upstream-pool.ts'

/** The server that a proxy stands in front of. */
export interface Upstream {
  readonly url: URL
  /** A server on this machine judges the Host that its client sent; one elsewhere must see its own. */
  readonly keepsHost: boolean
  /** Whether the client names the server itself, as it does to a forward proxy: then nothing needs to be made to name us. */
  readonly isNamedByClient: boolean
  /** What we add to every request. It goes to this server alone: we follow no redirect. */
  readonly own: readonly AddedHeader[]
  /** Throws when the head cannot be written. */
  readonly request: (head: UpstreamRequestHead) => UpstreamRequest
  readonly close: () => void
}

/** Reads the URL of a server, and refuses what cannot be proxied. */
export function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw urlError(`${JSON.stringify(text)} is no URL`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw urlError(`${JSON.stringify(text)}: ${url.protocol} is neither http: nor https:`)
  if (url.username !== '' || url.password !== '')
    throw urlError(
      'a URL with a password in it',
      "let the client send the Authorization header, or the recorder: --header 'Authorization: Basic ${env.TOKEN}'",
    )
  return url
}

export function openUpstream(
  url: URL,
  { isNamed: isNamedByClient = false, own = [], idleMs = IDLE_MS }: UpstreamOptions = {},
): Upstream {
  const sockets = new UpstreamPool(() => connectSocket(url), idleMs)
  return {
    url,
    keepsHost: isNamedByClient || isLoopback(bareHost(url)),
    isNamedByClient,
    own,
    request: (head) => {
      const request = new UpstreamRequest(head)
      sockets.acquire().send(request)
      return request
    },
    close: () => sockets.close(),
  }
}

interface UpstreamOptions {
  readonly isNamed?: boolean
  readonly own?: readonly AddedHeader[]
  readonly idleMs?: number
}

// Nothing is sent twice, so a request must not meet a socket that the server is just closing: most servers keep an idle one for 5 seconds or more.
const IDLE_MS = 2000

function connectSocket(url: URL): Socket {
  const host = bareHost(url)
  const options = { host, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1000 }
  if (url.protocol === 'http:') return connect({ ...options, port: Number(url.port || 80) })
  const servername = isIP(host) === 0 ? host : ''
  return connectSecurely({
    ...options,
    port: Number(url.port || 443),
    servername,
    ALPNProtocols: ['http/1.1'],
  })
}

function bareHost({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '')
}

function urlError(
  why: string,
  hint = 'give the URL that the client would use, such as https://host/mcp',
): ReelayError {
  return new ReelayError('URL_INVALID', `cannot record ${why}`, { hint })
}
