import { ReelayError } from '../errors.ts'
import type { Drift } from '../serve/drift.ts'
import { serveHttp, type ServedHttp } from '../serve/http/serve-http.ts'
import { addDrifts } from '../serve/joined-drift.ts'
import { serverNames } from '../serve/which-server.ts'
import type { Listen } from '../transport/listen.ts'
import { readListen } from './listen-address.ts'
import { announce, sayWhere, type TapeToServe } from './serve-talk.ts'

/** Where to listen; true without an address. */
export interface HttpFlags {
  readonly http?: Listen | true
  readonly sse?: Listen | true
}

/** Reads the value of an option that may stand without one, and so may have taken the tape for it. */
export function listenOf(option: string): (text: string) => Listen {
  return (text) => {
    try {
      return readListen(text, option)
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      const hint = `${error.hint}; a tape goes before it: reelay serve my-tape ${option}`
      throw new ReelayError(error.code, error.message, { hint, cause: error })
    }
  }
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
