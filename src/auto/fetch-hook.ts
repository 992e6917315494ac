import type { AnyFetch } from '../record/in-process/record-fetch.ts'
import { classifyFetch } from './mcp-fetch.ts'
import { callerStack, isSdkFetch } from './sdk-caller.ts'

/** A server that is reached over HTTP. */
interface FetchedEndpoint {
  readonly endpoint: URL
  /** Reaches it. */
  readonly fetch: AnyFetch
}

/** Says what is to be used in place of `fetch` for a server; asked once for each. */
export type FetchInterceptor = (endpoint: FetchedEndpoint) => AnyFetch

/**
 * The HTTP transports of both SDKs call the global `fetch`. Only what is a request to an MCP server is looked at; every other
 * fetch of the program, those for tokens among them, happens as ever.
 */
export function hookFetch(onFetch: FetchInterceptor): void {
  const original = globalThis.fetch
  const servers = new Map<string, AnyFetch>()
  const fetchOf = (url: URL, isMessage: boolean): AnyFetch => {
    const known = servers.get(url.origin + url.pathname) ?? (isMessage ? servers.get(url.origin) : undefined)
    if (known !== undefined) return known
    const stand = onFetch({ endpoint: new URL(url.origin + url.pathname), fetch: original })
    servers.set(url.origin + url.pathname, stand)
    if (!isMessage) servers.set(url.origin, stand) // where the messages of a legacy SSE stream belong
    return stand
  }
  const fetch = (...[input, init]: Parameters<typeof original>): Promise<Response> => {
    if (input instanceof Request || !URL.canParse(String(input))) return original(input, init)
    const kind = classifyFetch(init, isSdkFetch(callerStack(fetch)))
    return kind === 'other'
      ? original(input, init)
      : fetchOf(new URL(input), kind === 'sse message')(input, init)
  }
  Object.assign(globalThis, { fetch })
}
