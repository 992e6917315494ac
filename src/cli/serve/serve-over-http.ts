import { type Drift, sumServerDrifts } from '../../serve/drift.ts'
import { serveHttp, type ServedHttp, type ServeHttpOptions } from '../../serve/http/serve-http.ts'
import { announceTape, announceEndpoints, type TapeToServe, type ServeAddresses } from './tapes-to-serve.ts'

/** Serves until a signal, because a server over HTTP cannot know when its last client has left. */
export async function serveTapesOverHttp(
  tapes: readonly (TapeToServe & ServeAddresses & Pick<ServeHttpOptions, 'upstream'>)[],
  signal: AbortSignal,
): Promise<Drift> {
  const served: ServedHttp[] = []
  try {
    for (const options of tapes) {
      const one = await serveHttp(options)
      served.push(one)
      announceTape(options, [...new Set(one.endpoints.map(({ server }) => server))])
    }
    announceEndpoints(
      served.map((each, at) => ({ ...each, name: tapes.length > 1 ? tapes[at]?.name : undefined })),
    )
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return sumServerDrifts(served.map((each) => each.drift()))
  } finally {
    await Promise.all(served.map((each) => each.close()))
  }
}
