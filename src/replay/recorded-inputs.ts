import { renameInputRequests } from '../correlate/round-names.ts'
import { inputRequestTexts, pairInputRequests, type RoundInputTexts } from '../bindings/carry/input-names.ts'

/** A live answer that asks for input, under the names that the recorded one asked under. */
export function withRecordedInputs(recorded: string, live: string): string {
  const [then, now] = [inputRequestTexts(recorded), inputRequestTexts(live)]
  if (then === undefined || now === undefined) return live
  return renameInputRequests(live, recordedInputNames(then, now))
}

function recordedInputNames(then: RoundInputTexts, now: RoundInputTexts): ReadonlyMap<string, string> {
  const names = new Map([...pairInputRequests(then, now)].map(([recorded, live]) => [live, recorded]))
  const taken = new Set(names.values())
  // The server calls something new by a name that something else had.
  for (const live of now.keys()) if (!names.has(live) && taken.has(live)) names.set(live, `${live} (new)`)
  return names
}
