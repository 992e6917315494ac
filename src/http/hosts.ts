import { isIP } from 'node:net'
import { ReelayError } from '../errors.ts'
import { findHeader, type RawHeaders } from './headers.ts'

/** Parses the URL of a server. Throws unless it is an HTTP URL without a user name and password. */
export function parseServerUrl(text: string): URL {
  if (/^[\w.-]+:\d+(\/.*)?$/.test(text) || /^\[[\da-f:]+\]:\d+/i.test(text))
    throw urlError(
      `${JSON.stringify(text)} has no http:// or https://`,
      `did you mean http://${text}${text.includes('/') ? '' : '/mcp'}?`,
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined && /^[\w.-]+(\/\S*)?$/.test(text))
    throw urlError(
      `${JSON.stringify(text)} has no http:// or https://`,
      `did you mean ${text.startsWith('localhost') ? 'http' : 'https'}://${text}${text.includes('/') ? '' : '/mcp'}?`,
    )
  if (url === undefined) throw urlError(`${JSON.stringify(text)} is not a URL`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw urlError(`${JSON.stringify(text)} is neither http: nor https:`)
  if (url.username !== '' || url.password !== '')
    throw urlError(
      'the URL contains a password',
      "let the client send the Authorization header, or add it: --header 'Authorization: Basic ${env.TOKEN}'",
    )
  return url
}

/** The host name of a URL, without the brackets around an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '')
}

function urlError(
  message: string,
  hint = 'give the URL that the client would use, such as https://host/mcp',
): ReelayError {
  return new ReelayError('URL_INVALID', message, { hint })
}

/**
 * Protects a local server from web pages. A page can point a domain name at this machine and then send requests to us, but
 * its browser sends that name as Host or Origin. An IP address cannot be redirected like that, so it is accepted if we
 * listen to other machines.
 */
export class HostCheck {
  readonly #listensOn: string
  #lastAccepted: string | undefined

  constructor(listensOn: string) {
    this.#listensOn = listensOn
  }

  /** Returns undefined if the request is accepted. */
  rejectionReason(headers: RawHeaders): string | undefined {
    const host = findHeader(headers, 'host')
    const origin = findHeader(headers, 'origin')
    if (host !== undefined && host === this.#lastAccepted && origin === undefined) return undefined
    const name = host === undefined ? undefined : parseHostName(host)
    if (name === undefined || !isOwnHostName(name, this.#listensOn))
      return `Invalid Host: ${host ?? '(none)'}`
    this.#lastAccepted = host
    return origin === undefined || isTrustedOrigin(origin, name) ? undefined : `Invalid Origin: ${origin}`
  }
}

function isOwnHostName(name: string, listensOn: string): boolean {
  if (isLoopback(name) || name === listensOn) return true
  return !isLoopback(listensOn) && isIP(name) !== 0
}

function isTrustedOrigin(origin: string, host: string): boolean {
  const name = /^[a-z][a-z0-9+.-]*:\/\/([^/]+)$/i.exec(origin)?.[1]
  const from = name === undefined ? undefined : parseHostName(name)
  return from !== undefined && (isLoopback(from) || from === host)
}

/** Whether a host name, without port and brackets, always means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true
  return isIP(name) === 4 && name.startsWith('127.')
}

/** Whether a `Host` header is a host name or an IP address, with or without a port. */
export function isHostHeader(value: string): boolean {
  if (value === lastHostHeader) return true
  const isValid = parseHostName(value) !== undefined
  if (isValid) lastHostHeader = value
  return isValid
}

/** Nearly all requests have the same one. */
let lastHostHeader: string | undefined

// Not everything that a URL can contain: `a@127.0.0.1`, `127.0.0.1/x` and `127.0.0.1?x` name another host to other readers.
const AUTHORITY = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/** Returns the host name in a `Host` header or an origin, or undefined if it is invalid. */
function parseHostName(authority: string): string | undefined {
  const url = `http://${authority}`
  if (!AUTHORITY.test(authority) || !URL.canParse(url)) return undefined
  return new URL(url).hostname.replaceAll(/[[\]]/g, '')
}

/** Parses the request target of a proxy, which is a whole URL. The path keeps its spelling. */
export function parseAbsoluteTarget(target: string): { origin: string; path: string } | undefined {
  const [, authority = '', path = ''] = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(target) ?? []
  if (!isHostHeader(authority) || !URL.canParse(target)) return undefined
  const origin = new URL(target).origin.replace(/\.(?=:\d+$|$)/, '') // a dot at the end is not a part of the name
  return { origin, path: path.startsWith('/') ? path : `/${path}` }
}
