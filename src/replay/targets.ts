import { stdioLink, type StdioLinkOptions } from '../link/stdio.ts'
import type { StreamableHttpLinkOptions } from '../link/streamable-http.ts'
import type { HttpLinkOptions } from '../link/http-requests.ts'
import { httpSseLink } from '../link/http-sse.ts'
import { sdkTransportLink, type SdkClientTransport } from '../link/sdk-transport.ts'
import { urlLink } from '../link/url-link.ts'
import type { ReplayTarget } from './options.ts'

/** A server that is started for each link, with pipes. */
export function commandTarget(
  command: readonly [string, ...string[]],
  options: Omit<StdioLinkOptions, 'command'> = {},
): ReplayTarget {
  return { name: command.join(' '), open: stdioLink({ command, ...options }) }
}

/** A server that is there, over Streamable HTTP in either form; a legacy one that knows only HTTP+SSE is told by its refusal. */
export function urlTarget(
  url: string | URL,
  options: Omit<StreamableHttpLinkOptions, 'url'> = {},
): ReplayTarget {
  const address = new URL(url)
  return { name: nameOf(address), open: urlLink({ url: address, ...options }) }
}

/** A server that is there, over the legacy HTTP+SSE transport. */
export function sseTarget(url: string | URL, options: Omit<HttpLinkOptions, 'url'> = {}): ReplayTarget {
  const address = new URL(url)
  return { name: nameOf(address), open: httpSseLink({ url: address, ...options }) }
}

/** A transport of either SDK, or a served tape: `transportTarget(() => replayTransport(tape, { drift: 'ignore' }))`. One is made for each link. */
export function transportTarget(make: () => SdkClientTransport, name = 'a transport'): ReplayTarget {
  return { name, open: (handlers) => sdkTransportLink(make())(handlers) }
}

// A query may hold a secret.
function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}
