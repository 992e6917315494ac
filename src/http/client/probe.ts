import { type AddedHeader, findHeader, type RawHeaders } from '../headers.ts'
import { requestHead, HttpClient } from './http-client.ts'

/** The outcome of one small request. */
export type HttpProbeResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly location: string | undefined
      readonly headers: RawHeaders
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'unreachable'; readonly why: string }

interface HttpProbeOptions {
  readonly headers: readonly AddedHeader[]
  readonly body: string
  readonly timeoutMs: number
}

/** Posts a body once, on a new connection, and disconnects when the head of the response has arrived. */
export function probeHttp(
  url: URL,
  { headers, body, timeoutMs }: HttpProbeOptions,
): Promise<HttpProbeResult> {
  const client = new HttpClient()
  return new Promise((resolve) => {
    const finish = (result: HttpProbeResult): void => {
      clearTimeout(timer)
      client.close()
      resolve(result)
    }
    const timer = setTimeout(() => finish({ kind: 'timeout', seconds: timeoutMs / 1000 }), timeoutMs)
    const isNamed = headers.some(({ name }) => name.toLowerCase() === 'host')
    const sent = [
      ...(isNamed ? [] : ['host', url.host]),
      ...headers.flatMap(({ name, value }) => [name, value]),
    ]
    try {
      client
        .send(url, requestHead('POST', url.pathname + url.search, sent), {
          onHead: ({ status, headers: received }) =>
            finish({
              kind: 'answered',
              status,
              location: findHeader(received, 'location'),
              headers: received,
            }),
          onBody: () => {},
          onEnd: () => {},
          onFail: (error) => finish(failure(error)),
        })
        .end(body)
    } catch (error) {
      finish(failure(error)) // the head cannot be sent
    }
  })
}

function failure(error: unknown): HttpProbeResult {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ECONNREFUSED' ? { kind: 'refused' } : { kind: 'unreachable', why: message }
}
