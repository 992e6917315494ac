import type { Drift } from '../serve/drift.ts'
import { serveHttp, type ServedHttp } from '../serve/http/serve-http.ts'
import { addDrifts } from '../serve/joined-drift.ts'
import { serverNames } from '../serve/which-server.ts'
import type { Listen } from '../transport/listen.ts'
import { announce, sayWhere, type TapeToServe } from './serve-talk.ts'

/** Where to listen; true without an address. */
export interface HttpFlags {
  readonly http?: Listen | true
  readonly sse?: Listen | true
}

/** Until a signal ends it: a server over HTTP cannot know when its last client has left. */
export async function overHttp(
  tapes: readonly TapeToServe[],
  flags: HttpFlags,
  signal: AbortSignal,
): Promise<Drift> {
  const served: ServedHttp[] = []
  try {
    for (const [at, options] of tapes.entries()) {
      served.push(await serveHttp({ ...options, ...placesOf(flags, at) }))
      announce(options, options.server === undefined ? serverNames(options.tape) : [options.server])
    }
    sayWhere(served.map((each, at) => ({ ...each, name: tapes.length > 1 ? tapes[at]?.name : undefined })))
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return addDrifts(served.map((each) => each.drift()))
  } finally {
    await Promise.all(served.map((each) => each.close()))
  }
}

/** Each tape has its own port: the given one, the next one, and so on. */
function placesOf({ http, sse }: HttpFlags, at: number): { http?: Partial<Listen>; sse?: Partial<Listen> } {
  const placeOf = (given: Listen | true): Partial<Listen> =>
    given === true ? {} : { ...given, port: given.port === 0 ? 0 : given.port + at }
  return { ...(http && { http: placeOf(http) }), ...(sse && { sse: placeOf(sse) }) }
}
