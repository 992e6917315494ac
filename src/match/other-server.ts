import type { TapeLookup } from './evidence.ts'
import { isConnectionMethod } from './freely-asked.ts'
import { requestKey, type RequestContent } from './request-key.ts'
import type { RecordedRequest } from './matcher.ts'
import type { RequestComparer } from './request-comparer.ts'

/** The same request, as it was sent to another server of the tape. */
export function findOnOtherServer(
  asked: RequestContent,
  { evidence, matching }: { evidence: TapeLookup; matching: RequestComparer },
): RecordedRequest | undefined {
  const { turns } = evidence
  if (!evidence.hasOtherServer(asked.server)) return undefined
  // Every server is asked for its tools: only params tell whom a request was meant for.
  if (isConnectionMethod(asked.method) || matching.strategy.paramsOf(asked, []) === undefined)
    return undefined
  const key = matching.keyOf(asked)
  for (const place of placesToSearch(asked, evidence, key === requestKey(asked))) {
    const { trigger, server, method, frame, answered } = turns.outline(place)
    if (trigger !== 'request' || server === asked.server || method !== asked.method || !answered) continue
    const called = turns.clientCall(place)
    if (called !== undefined && matching.keyOf({ ...called, server: asked.server }) === key)
      return { frame, ...called }
  }
  return undefined
}

/** Where requests are told apart by their keys, the index knows; else every one has to be looked at. */
function placesToSearch(asked: RequestContent, { turns }: TapeLookup, isByKey: boolean): Iterable<number> {
  if (!isByKey) return Array(turns.size).keys()
  const keyed = turns.keyedBy(requestKey)
  const places: number[] = []
  for (const server of new Set(turns.kinds().map((kind) => kind.server))) {
    const first = keyed.first(requestKey({ ...asked, server }))
    for (let place = first; place >= 0; place = keyed.after(place)) places.push(place)
  }
  return places.toSorted((a, b) => a - b)
}
