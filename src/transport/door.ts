import { isIP } from 'node:net'
import { headerOf, type RawHeaders } from './http-heads.ts'
import { hostNameIn, isLoopback } from './loopback.ts'

/**
 * Says why a request may not pass, or nothing when it may. A web page can point a name of its own at this machine and then
 * talk to us; the Host and Origin that its browser sends give it away, and neither is ours. A bare address cannot be
 * pointed elsewhere, so it is let in where we listen to more than this machine.
 */
export class Door {
  readonly #listensOn: string
  #lastGood: string | undefined

  constructor(listensOn: string) {
    this.#listensOn = listensOn
  }

  refusal(headers: RawHeaders): string | undefined {
    const host = headerOf(headers, 'host')
    const origin = headerOf(headers, 'origin')
    if (host !== undefined && host === this.#lastGood && origin === undefined) return undefined
    const name = host === undefined ? undefined : hostNameIn(host)
    if (name === undefined || !isOurs(name, this.#listensOn)) return `Invalid Host: ${host ?? '(none)'}`
    this.#lastGood = host
    return origin === undefined || isTrusted(origin, name) ? undefined : `Invalid Origin: ${origin}`
  }
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
