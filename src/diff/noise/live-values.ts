import { isChangedScalar } from '../difference.ts'
import { noiseByDifference, type NoiseKind } from './noise-kind.ts'

/**
 * Values that the live server generated in place of recorded ones, such as ids. A whole text, such as a URL, can be such a value. An id of
 * another shape is a change of the server, although it was accepted by the server in later requests.
 */
export const liveValues: NoiseKind = noiseByDifference('live-value', (difference, { isLiveValue }) => {
  if (isLiveValue === undefined) return false
  const { within } = difference
  return (
    (isChangedScalar(difference) &&
      haveSameWords(difference) &&
      isLiveValue(difference.expected, difference.actual, difference.path)) ||
    (within !== undefined &&
      haveSameWords(within) &&
      isLiveValue(within.expected, within.actual, within.path))
  )
})

/** Returns false if an id in one text has another shape than the one in its place in the other text. */
function haveSameWords({
  expected,
  actual,
}: {
  readonly expected: unknown
  readonly actual: unknown
}): boolean {
  const [ours, theirs] = [expected, actual].map((text) => String(text).match(/[\w-]+/g) ?? [])
  if (ours === undefined || ours.length !== theirs?.length) return true
  return ours.every((word, at) => hasSameShape(word, theirs[at] ?? ''))
}

/** Returns false if one value is a UUID, a long hash or a number, and the other one is not. A hexadecimal id may have only digits by chance. */
export function hasSameShape(recorded: string, live: string): boolean {
  if (recorded.length === live.length && SHORT_HEX.test(recorded) && SHORT_HEX.test(live)) return true
  const [ours, theirs] = [recorded, live].map((id) => PREFIXED.exec(id)?.[1])
  if (ours !== undefined && theirs !== undefined && ours !== theirs) return false
  return SHAPES.every((shape) => shape.test(recorded) === shape.test(live))
}

/** An id whose prefix says what it is the id of, such as `req_8f2k3q9a`. */
const PREFIXED = /^([a-z]{2,8}_)(?=[A-Za-z]*\d)[A-Za-z0-9]{6,}$/

const SHORT_HEX = /^[0-9a-f]{6,15}$/i

const SHAPES: readonly RegExp[] = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  /^[0-9a-f]{16,}$/,
  /^\d+$/,
]
