import { isIP } from 'node:net'
import { headerOf, type HeaderPairs } from './http-heads.ts'
import { hostNameIn, isLoopback } from './loopback.ts'

/**
 * Why a request may not pass, or undefined when it may. A web page can point a name of its own at this machine and then
 * talk to us; the Host and Origin that its browser sends give it away, and neither is ours. A bare address cannot be
 * pointed elsewhere, so it is let in where we listen to more than this machine.
 */
export function refusal(headers: HeaderPairs, listensOn: string): string | undefined {
  const host = headerOf(headers, 'host')
  const name = host === undefined ? undefined : hostNameIn(host)
  if (name === undefined || !isOurs(name, listensOn)) return `Invalid Host: ${host ?? '(none)'}`
  const origin = headerOf(headers, 'origin')
  return origin === undefined || isTrusted(origin, name) ? undefined : `Invalid Origin: ${origin}`
}

function isOurs(name: string, listensOn: string): boolean {
  if (isLoopback(name) || name === listensOn) return true
  return !isLoopback(listensOn) && isIP(name) !== 0
}

function isTrusted(origin: string, host: string): boolean {
  const name = /^[a-z][a-z0-9+.-]*:\/\/([^/]+)$/i.exec(origin)?.[1]
  const from = name === undefined ? undefined : hostNameIn(name)
  return from !== undefined && (isLoopback(from) || from === host)
}
