import { commandLink, type CommandLinkOptions } from '../transport/command-link.ts'
import type { HttpLinkOptions } from '../transport/http-link.ts'
import { sseLink, type SseLinkOptions } from '../transport/sse-link.ts'
import { transportLink, type ClientTransport } from '../transport/transport-link.ts'
import { urlLink } from '../transport/url-link.ts'
import type { Target } from './options.ts'

/** A server that is started for each link, with pipes. */
export function commandTarget(
  command: readonly [string, ...string[]],
  options: Omit<CommandLinkOptions, 'command'> = {},
): Target {
  return { name: command.join(' '), open: commandLink({ command, ...options }) }
}

/** A server that is there, over Streamable HTTP in either form; a legacy one that knows only HTTP+SSE is told by its refusal. */
export function urlTarget(url: string | URL, options: Omit<HttpLinkOptions, 'url'> = {}): Target {
  const address = new URL(url)
  return { name: nameOf(address), open: urlLink({ url: address, ...options }) }
}

/** A server that is there, over the legacy HTTP+SSE transport. */
export function sseTarget(url: string | URL, options: Omit<SseLinkOptions, 'url'> = {}): Target {
  const address = new URL(url)
  return { name: nameOf(address), open: sseLink({ url: address, ...options }) }
}

/** A transport of either SDK, or a served tape: `transportTarget(() => replayTransport(tape, { drift: 'ignore' }))`. One is made for each link. */
export function transportTarget(make: () => ClientTransport, name = 'a transport'): Target {
  return { name, open: (handlers) => transportLink(make())(handlers) }
}

// A query may hold a secret.
function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}
