import { HANDSHAKE_METHODS } from '../wire/methods.ts'

/** How often a client opens or probes a connection is its own affair, not part of the session's content. */
export function isFreelyAsked(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'ping'
}
