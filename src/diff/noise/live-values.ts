import { isChangedScalar } from '../difference.ts'
import { noiseByDifference, type NoiseKind } from './noise-kind.ts'

/** Values that the live server generated in place of recorded ones, such as ids. */
export const liveValues: NoiseKind = noiseByDifference(
  'live-value',
  (difference, { isLiveValue }) =>
    isLiveValue !== undefined &&
    isChangedScalar(difference) &&
    isLiveValue(difference.expected, difference.actual, difference.path),
)
