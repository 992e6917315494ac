import { withAskedNames } from '../correlate/round-names.ts'
import { inputsIn, pairInputs, type Inputs } from '../correlate/round-pairs.ts'

/** A live answer that asks for input, under the names that the recorded one asked under. */
export function withRecordedInputs(recorded: string, live: string): string {
  const [then, now] = [inputsIn(recorded), inputsIn(live)]
  if (then === undefined || now === undefined) return live
  return withAskedNames(live, recordedNames(then, now))
}

function recordedNames(then: Inputs, now: Inputs): ReadonlyMap<string, string> {
  const names = new Map([...pairInputs(then, now)].map(([recorded, live]) => [live, recorded]))
  const taken = new Set(names.values())
  // The server calls something new by a name that something else had.
  for (const live of now.keys()) if (!names.has(live) && taken.has(live)) names.set(live, `${live} (new)`)
  return names
}
