import { isChangedScalar } from '../difference.ts'
import { noiseByDifference, type NoiseKind } from './noise-kind.ts'

/** Values that the live server generated in place of recorded ones, such as ids. A whole text, such as a URL, can be such a value. */
export const liveValues: NoiseKind = noiseByDifference('live-value', (difference, { isLiveValue }) => {
  if (isLiveValue === undefined) return false
  const { within } = difference
  return (
    (isChangedScalar(difference) && isLiveValue(difference.expected, difference.actual, difference.path)) ||
    (within !== undefined && isLiveValue(within.expected, within.actual, within.path))
  )
})
