import type { ListenAddress } from '../../http/server/listen.ts'
import { HttpRouter } from './http-router.ts'

export type HttpTransport = 'http' | 'sse'

/** Where each transport is to be spoken; one that is not given is not. */
export type HttpAddresses = { readonly [transport in HttpTransport]?: Partial<ListenAddress> | undefined }

export interface ListeningRouter {
  readonly front: HttpRouter
  readonly listen: ListenAddress
  readonly transports: readonly HttpTransport[]
}

/** `now` is the time for all of them, where it is not that of the clock on the wall. */
export interface RouterClock {
  readonly now?: (() => number) | undefined
}

/** One listener for each address that was asked for: both transports share one unless told otherwise. */
export function createRouters({ http, sse, now }: HttpAddresses & RouterClock): readonly ListeningRouter[] {
  const place = (listen: ListenAddress, ...transports: ListeningRouter['transports']): ListeningRouter => ({
    front: new HttpRouter(listen, now),
    listen,
    transports,
  })
  if (sse === undefined) return [place(withDefaultAddress(http ?? {}), 'http')]
  if (http === undefined) return [place(withDefaultAddress(sse), 'sse')]
  const [forHttp, forSse] = [withDefaultAddress(http), withDefaultAddress({ ...http, ...sse })]
  if (formatAddress(forHttp) === formatAddress(forSse)) return [place(forHttp, 'http', 'sse')]
  return [place(forHttp, 'http'), place(forSse, 'sse')]
}

export function withDefaultAddress({ host = '127.0.0.1', port = 0 }: Partial<ListenAddress>): ListenAddress {
  return { host, port }
}

export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
