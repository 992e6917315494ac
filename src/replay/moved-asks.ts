import type { TurnStep } from '../tape/turn.ts'
import type { LiveNotifications } from './session/live-notifications.ts'
import type { InterimMessage } from './session/live-calls.ts'
import type { PlannedMessage } from './plan/plan.ts'

/**
 * The requests of the server that only came at another time: nothing on the wire says which call they belong to, so that it
 * counts how often they come in all. Waits a moment for those that may be late.
 */
export async function movedRequests(
  { turn, heard: before, asksInAll }: PlannedMessage,
  asides: readonly InterimMessage[],
  { heard, grace }: { heard: LiveNotifications; grace: number },
): Promise<ReadonlySet<string>> {
  if (asksInAll.size === 0 && asides.length === 0) return NOTHING_MOVED
  const [then, now] = [
    countMethods(turn.steps.flatMap(recordedMethod)),
    countMethods(asides.flatMap(liveMethod)),
  ]
  const missing = [...then].filter(([method, count]) => (now.get(method) ?? 0) < count)
  const wanted = new Map(missing.map(([method, count]) => [method, (before.get(method) ?? 0) + count]))
  const lost = new Set(wanted.size === 0 ? [] : await heard.waitForCounts(wanted, grace))
  const early = [...now.keys()].filter(
    (method) =>
      (now.get(method) ?? 0) > (then.get(method) ?? 0) && heard.count(method) <= (asksInAll.get(method) ?? 0),
  )
  return new Set([...[...wanted.keys()].filter((method) => !lost.has(method)), ...early])
}

const NOTHING_MOVED: ReadonlySet<string> = new Set()

function recordedMethod(step: TurnStep): readonly string[] {
  return step.kind === 'ask' && 'method' in step.request.message ? [step.request.message.method] : []
}

function liveMethod({ message }: InterimMessage): readonly string[] {
  return message.kind === 'request' ? [message.method] : []
}

function countMethods(methods: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const method of methods) counts.set(method, (counts.get(method) ?? 0) + 1)
  return counts
}
