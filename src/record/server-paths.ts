import type { RequestLine } from '../http/proxy/proxied-exchange.ts'

/** Whether a request goes to the server's own path, or below it. */
export function isServerPath({ pathname }: URL, path: string): boolean {
  const query = path.indexOf('?')
  const name = query < 0 ? path : path.slice(0, query)
  const isBelow = pathname !== '/' && name.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
  return name === pathname || isBelow
}

/**
 * Where the client of a legacy stream will post to, as its requests will say it: with the origin, where the client names a server
 * with each request. Undefined when what the server named is no address.
 */
export function endpointAddress(
  data: string,
  { path, origin }: RequestLine,
  server: URL | undefined,
): string | undefined {
  const base = `${origin ?? server?.origin}${path}`
  if (!URL.canParse(data, base)) return undefined
  const named = new URL(data, base)
  const address = named.pathname + named.search
  return origin === undefined ? address : named.origin + address
}
