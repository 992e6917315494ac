import type { Drift } from '../serve/drift.ts'
import { serveHttp, type ServedHttp, type ServeHttpOptions } from '../serve/http/serve-http.ts'
import { addDrifts } from '../serve/joined-drift.ts'
import { announce, sayWhere, type TapeToServe } from './serve-talk.ts'
import type { Places } from './wanted-tapes.ts'

/** Until a signal ends it: a server over HTTP cannot know when its last client has left. */
export async function overHttp(
  tapes: readonly (TapeToServe & Places & Pick<ServeHttpOptions, 'elsewhere'>)[],
  signal: AbortSignal,
): Promise<Drift> {
  const served: ServedHttp[] = []
  try {
    for (const options of tapes) {
      const one = await serveHttp(options)
      served.push(one)
      announce(options, [...new Set(one.endpoints.map(({ server }) => server))])
    }
    sayWhere(served.map((each, at) => ({ ...each, name: tapes.length > 1 ? tapes[at]?.name : undefined })))
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return addDrifts(served.map((each) => each.drift()))
  } finally {
    await Promise.all(served.map((each) => each.close()))
  }
}
