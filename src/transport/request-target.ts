/** A host and a port, as CONNECT names them. */
export interface HostAndPort {
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Both, as a URL has them. */
  readonly authority: string
}

/** Reads what a client asks of a forward proxy: a whole URL. The path stays as it is spelled. */
export function parseAbsoluteTarget(target: string): { origin: string; path: string } | undefined {
  const found = /^https?:\/\/[^/?#]+([^#]*)/i.exec(target)
  if (found === null || !URL.canParse(target)) return undefined
  const path = found[1] ?? ''
  return { origin: new URL(target).origin, path: path.startsWith('/') ? path : `/${path}` }
}

/** Reads what follows CONNECT. */
export function parseConnectTarget(text: string): HostAndPort | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+):(\d{1,5})$/i.exec(text)
  if (found === null || !URL.canParse(`http://${text}`)) return undefined
  const port = Number(found[2])
  return port === 0 ? undefined : { host: found[1]!.replaceAll(/[[\]]/g, ''), port, authority: text }
}
