import type { Step } from '../tape/turn.ts'
import type { Heard } from './heard.ts'
import type { Aside } from './live-call.ts'
import type { Planned } from './plan.ts'

/**
 * The requests of the server that only came at another time: nothing on the wire says which call they belong to, so that it
 * counts how often they come in all. Waits a moment for those that may be late.
 */
export async function movedAsks(
  { turn, heard: before, asksInAll }: Planned,
  asides: readonly Aside[],
  { heard, grace }: { heard: Heard; grace: number },
): Promise<ReadonlySet<string>> {
  if (asksInAll.size === 0 && asides.length === 0) return NONE
  const [then, now] = [counted(turn.steps.flatMap(methodAsked)), counted(asides.flatMap(methodOf))]
  const missing = [...then].filter(([method, count]) => (now.get(method) ?? 0) < count)
  const wanted = new Map(missing.map(([method, count]) => [method, (before.get(method) ?? 0) + count]))
  const lost = new Set(wanted.size === 0 ? [] : await heard.until(wanted, grace))
  const early = [...now.keys()].filter(
    (method) =>
      (now.get(method) ?? 0) > (then.get(method) ?? 0) && heard.count(method) <= (asksInAll.get(method) ?? 0),
  )
  return new Set([...[...wanted.keys()].filter((method) => !lost.has(method)), ...early])
}

const NONE: ReadonlySet<string> = new Set()

function methodAsked(step: Step): readonly string[] {
  return step.kind === 'ask' && 'method' in step.request.message ? [step.request.message.method] : []
}

function methodOf({ message }: Aside): readonly string[] {
  return message.kind === 'request' ? [message.method] : []
}

function counted(methods: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const method of methods) counts.set(method, (counts.get(method) ?? 0) + 1)
  return counts
}
