import type { Evidence } from './evidence.ts'
import { isOfLink } from './freely-asked.ts'
import type { Asked } from './key.ts'
import type { RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'

/** The same request, as it was sent to another server of the tape. */
export function sentElsewhere(
  asked: Asked,
  { evidence, matching }: { evidence: Evidence; matching: Matching },
): RecordedRequest | undefined {
  const { turns } = evidence
  if (!evidence.hasOtherServerThan(asked.server)) return undefined
  // Every server is asked for its tools: only params tell whom a request was meant for.
  if (isOfLink(asked.method) || matching.strategy.paramsOf(asked, []) === undefined) return undefined
  const key = matching.keyOf(asked)
  for (let place = 0; place < turns.size; place++) {
    const { trigger, server, method, frame, answered } = turns.outline(place)
    if (trigger !== 'request' || server === asked.server || method !== asked.method || !answered) continue
    const called = turns.called(place)
    if (called !== undefined && matching.keyOf({ ...called, server: asked.server }) === key)
      return { frame, ...called }
  }
  return undefined
}
