import { headerOf } from '../transport/http-heads.ts'
import { sendAsk, textOf, type Answer, type Ask, type Way } from './http-ask.ts'

const MOST_REDIRECTS = 3

/** Sends a request, and follows a server that has moved within itself; to another one it sends nothing. */
export async function askFollowing(way: Way, ask: Omit<Ask, 'path'>): Promise<Answer> {
  const { target } = way
  let url = target.url
  for (let redirects = 0; ; redirects++) {
    const answer = await sendAsk(way, { ...ask, path: url.pathname + url.search })
    const next = redirectOf(answer, url)
    if (next?.origin !== target.url.origin || redirects >= MOST_REDIRECTS) return answer
    await textOf(answer)
    url = next
  }
}

function redirectOf({ status, headers }: Answer, base: URL): URL | undefined {
  const location = headerOf(headers, 'location')
  if ((status !== 307 && status !== 308) || location === undefined) return undefined
  return URL.canParse(location, base.href) ? new URL(location, base) : undefined
}
