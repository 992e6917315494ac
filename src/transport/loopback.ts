import { isIP } from 'node:net'

/** Whether a host name, without port and brackets, is this machine and can be no other. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true
  return isIP(name) === 4 && name.startsWith('127.')
}

/** The host name in a `Host` header or an origin; undefined when it cannot be read. */
export function parseHostName(authority: string): string | undefined {
  const url = `http://${authority}`
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '') : undefined
}
