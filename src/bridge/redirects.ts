import { findHeader } from '../http/headers.ts'
import {
  sendBridgeRequest,
  readBodyText,
  type BridgeHttpResponse,
  type BridgeHttpRequest,
  type BridgeRoute,
} from '../link/bridge/http-requests.ts'

const MAX_REDIRECTS = 3

/** Sends a request, and follows a server that has moved within itself; to another one it sends nothing. */
export async function sendFollowingRedirects(
  way: BridgeRoute,
  ask: Omit<BridgeHttpRequest, 'path'>,
): Promise<BridgeHttpResponse> {
  const { target } = way
  let url = target.url
  for (let redirects = 0; ; redirects++) {
    const answer = await sendBridgeRequest(way, { ...ask, path: url.pathname + url.search })
    const next = redirectTarget(answer, url)
    if (next?.origin !== target.url.origin || redirects >= MAX_REDIRECTS) return answer
    await readBodyText(answer)
    url = next
  }
}

function redirectTarget({ status, headers }: BridgeHttpResponse, base: URL): URL | undefined {
  const location = findHeader(headers, 'location')
  if ((status !== 307 && status !== 308) || location === undefined) return undefined
  return URL.canParse(location, base.href) ? new URL(location, base) : undefined
}
