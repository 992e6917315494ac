import type { Difference } from '../difference.ts'
import { clockTimes } from './clock.ts'
import { learnedDifferences } from './learned.ts'
import { liveValues } from './live-values.ts'
import type { NoiseContext, NoiseKind, NoiseSeparation } from './noise-kind.ts'
import { renamedMembers } from './renamed-members.ts'

/** All kinds of noise, in the order in which they are applied. Renamed members come first: they reveal other differences. */
export const NOISE_KINDS: readonly NoiseKind[] = [renamedMembers, liveValues, clockTimes, learnedDifferences]

/** Separates noise from the differences that count. */
export function separateNoise(differences: readonly Difference[], context: NoiseContext): NoiseSeparation {
  let result: NoiseSeparation = { kept: differences, suppressed: [] }
  for (const kind of NOISE_KINDS) {
    if (result.kept.length === 0) break
    const { kept, suppressed } = kind.separate(result.kept, context)
    result = { kept, suppressed: [...result.suppressed, ...suppressed] }
  }
  return result
}
