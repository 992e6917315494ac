import type { Listen } from '../../transport/listen.ts'
import { Front } from './front.ts'

export type HttpTransport = 'http' | 'sse'

/** Where each transport is to be spoken; one that is not given is not. */
export type Wanted = { readonly [transport in HttpTransport]?: Partial<Listen> | undefined }

export interface Place {
  readonly front: Front
  readonly listen: Listen
  readonly transports: readonly HttpTransport[]
}

/** `now` is the time for all of them, where it is not that of the clock on the wall. */
export interface Told {
  readonly now?: (() => number) | undefined
}

/** One listener for each address that was asked for: both transports share one unless told otherwise. */
export function placesFor({ http, sse, now }: Wanted & Told): readonly Place[] {
  const place = (listen: Listen, ...transports: Place['transports']): Place => ({
    front: new Front(listen, now),
    listen,
    transports,
  })
  if (sse === undefined) return [place(withDefaults(http ?? {}), 'http')]
  if (http === undefined) return [place(withDefaults(sse), 'sse')]
  const [forHttp, forSse] = [withDefaults(http), withDefaults({ ...http, ...sse })]
  if (addressOf(forHttp) === addressOf(forSse)) return [place(forHttp, 'http', 'sse')]
  return [place(forHttp, 'http'), place(forSse, 'sse')]
}

export function withDefaults({ host = '127.0.0.1', port = 0 }: Partial<Listen>): Listen {
  return { host, port }
}

export function addressOf({ host, port }: Listen): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
