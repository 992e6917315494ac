import type { HttpClient, HttpRequest } from '../http/client/http-client.ts'

/** Ends a session; a server that does not want to be told says so, and that is all. */
export function deleteSession(
  client: HttpClient,
  where: Pick<HttpRequest, 'url' | 'headers'>,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(), DELETE_TIMEOUT_MS)
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    client.send(
      { method: 'DELETE', ...where },
      { onHead: done, onBody: () => {}, onEnd: done, onError: done },
    )
  })
}

/** Milliseconds that a server may take to hear of it. */
const DELETE_TIMEOUT_MS = 1000
