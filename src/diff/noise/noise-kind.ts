import type { JsonPath } from '../../json/path.ts'
import type { Differ } from '../diff.ts'
import type { Difference } from '../difference.ts'

/** One kind of difference that does not mean the server has changed. */
export interface NoiseKind {
  readonly name: string
  /**
   * Separates the differences that this kind explains from the others. A kind whose facts are not in the context keeps all
   * differences. `kept` may contain new differences, which the kinds after this one see.
   */
  separate(differences: readonly Difference[], context: NoiseContext): NoiseSeparation
}

/** The facts that kinds of noise rely on. */
export interface NoiseContext {
  /** Compares values by the same rules that found the differences. */
  readonly differ?: Differ
  readonly isLiveValue?: IsLiveValue
  readonly clock?: SessionTimes
  /** Differences that were seen between responses of the same server to the same request. */
  readonly learned?: {
    readonly explains: (difference: Difference, context: Pick<NoiseContext, 'clock'>) => boolean
  }
}

/** Tells if two values at a path differ only because the live server generated new values, such as ids. */
export type IsLiveValue = (expected: unknown, actual: unknown, path: JsonPath) => boolean

/** When the recorded and the live session took place. */
export interface SessionTimes {
  readonly recorded: TimeSpan
  readonly live: () => TimeSpan
  /** How far local time was from UTC where each session took place, in minutes. By default, both were on this machine. */
  readonly offsets?: { readonly recorded?: UtcOffsets; readonly live?: UtcOffsets }
}

/** In minutes east of UTC: one, or those of summer and winter. */
export type UtcOffsets = readonly number[]

/** In milliseconds since 1970. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

export interface NoiseSeparation {
  readonly kept: readonly Difference[]
  readonly suppressed: readonly SuppressedDifference[]
}

interface SuppressedDifference {
  readonly difference: Difference
  /** The name of the kind of noise that explains it. */
  readonly noise: string
}

/** A kind that looks at one difference at a time. */
export function noiseByDifference(
  name: string,
  explains: (difference: Difference, context: NoiseContext) => boolean,
): NoiseKind {
  return {
    name,
    separate(differences, context) {
      const kept = differences.filter((difference) => !explains(difference, context))
      if (kept.length === differences.length) return { kept: differences, suppressed: [] }
      const suppressed = differences.filter((difference) => !kept.includes(difference))
      return { kept, suppressed: suppressed.map((difference) => ({ difference, noise: name })) }
    },
  }
}
