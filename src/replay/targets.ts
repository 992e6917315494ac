import { stdioLink, type StdioLinkOptions } from '../link/stdio.ts'
import type { StreamableHttpLinkOptions } from '../link/streamable-http.ts'
import type { HttpLinkOptions } from '../link/http-requests.ts'
import { httpSseLink } from '../link/http-sse.ts'
import { sdkTransportLink, type SdkClientTransport } from '../link/sdk-transport.ts'
import { urlLink } from '../link/url-link.ts'
import type { ReplayTarget } from './options.ts'

/** A command that is started as a stdio server for each connection of the tape. */
export function commandTarget(
  command: readonly [string, ...string[]],
  options: Omit<StdioLinkOptions, 'command'> = {},
): ReplayTarget {
  return { name: command.join(' '), open: stdioLink({ command, ...options }) }
}

/** A running server with Streamable HTTP. Falls back to HTTP+SSE if the server refuses it. */
export function urlTarget(
  url: string | URL,
  options: Omit<StreamableHttpLinkOptions, 'url'> = {},
): ReplayTarget {
  const address = new URL(url)
  return { name: nameOf(address), open: urlLink({ url: address, ...options }), isShared: true }
}

/** A running server with the legacy HTTP+SSE transport. */
export function sseTarget(url: string | URL, options: Omit<HttpLinkOptions, 'url'> = {}): ReplayTarget {
  const address = new URL(url)
  return { name: nameOf(address), open: httpSseLink({ url: address, ...options }), isShared: true }
}

/** A transport of either SDK, or a served tape: `transportTarget(() => replayTransport(tape, { drift: 'ignore' }))`. `make` is called for each connection of the tape. */
export function transportTarget(make: () => SdkClientTransport, name = 'a transport'): ReplayTarget {
  return { name, open: (handlers) => sdkTransportLink(make())(handlers) }
}

// The query is left out because it may contain a secret.
function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}
