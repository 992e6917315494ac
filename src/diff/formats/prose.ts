import { longestCommonSubsequence } from '../align.ts'
import type { ChangedPart } from '../difference.ts'

/**
 * Cuts a text into words, numbers, spaces and punctuation. Values that belong together stay whole: UUIDs, times, numbers with decimals, and ids
 * such as `run-8f3a`. A number is separated from its unit.
 */
export function proseTokens(text: string): readonly string[] {
  return text.match(TOKENS) ?? []
}

// Repetitions are bounded where something must follow them, so that hostile text takes linear time.
const TOKENS =
  /\n|[^\S\n]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])|\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?![\w:])|\d{1,20}(?:[.,]\d{1,20}){0,6}(?=(?:[nµu]?s|ms|secs?|mins?|hours?|days?|[mhdwy]|[kmgt]?i?b|px|x)?(?![\p{L}\p{N}_-]))|[\p{L}\p{N}_]+(?:-+[\p{L}\p{N}_]+)*|[^]/giu

/** Returns the parts in which two texts differ, or the first of them if there are many. */
export function changedParts(expected: string, actual: string): readonly ChangedPart[] {
  const [ours, theirs] = [expected.split('\n'), actual.split('\n')]
  const common = longestCommonSubsequence(ours, theirs)
  const parts: ChangedPart[] = []
  let [row, column] = [0, 0]
  for (const next of [...common, { expected: ours.length, actual: theirs.length }]) {
    const [removed, added] = [ours.slice(row, next.expected), theirs.slice(column, next.actual)]
    parts.push(...partsOfLines(removed, added, row + 1))
    if (parts.length >= MOST_PARTS) break
    row = next.expected + 1
    column = next.actual + 1
  }
  return parts.slice(0, MOST_PARTS)
}

const MOST_PARTS = 20

function partsOfLines(
  removed: readonly string[],
  added: readonly string[],
  first: number,
): readonly ChangedPart[] {
  if (removed.length === 0 && added.length === 0) return []
  if (removed.length !== added.length)
    return [{ line: first, expected: removed.join('\n'), actual: added.join('\n') }]
  return removed.slice(0, MOST_PARTS).flatMap((line, at) => {
    const other = added[at] ?? ''
    return line === other ? [] : [{ line: first + at, ...withoutCommonEnds(line, other) }]
  })
}

/** Leaves out the tokens that two lines have in common at both ends, except for the word before the change, which tells what changed. */
function withoutCommonEnds(
  expected: string,
  actual: string,
): { readonly expected: string; readonly actual: string } {
  const [ours, theirs] = [proseTokens(expected), proseTokens(actual)]
  const shortest = Math.min(ours.length, theirs.length)
  let head = 0
  while (head < shortest && ours[head] === theirs[head]) head++
  let tail = 0
  while (tail < shortest - head && ours.at(-1 - tail) === theirs.at(-1 - tail)) tail++
  const start = Math.max(0, head - CONTEXT_TOKENS)
  const cut = (tokens: readonly string[]): string =>
    tokens.slice(start, tokens.length - Math.max(0, tail - CONTEXT_TOKENS)).join('')
  return { expected: cut(ours), actual: cut(theirs) }
}

const CONTEXT_TOKENS = 2

/**
 * Returns the parts that changed in the same way in several live texts. A part that differs from one live text to the other is noise
 * beside the change. Returns nothing if the texts are too long or too different to tell.
 */
export function steadyParts(
  expected: string,
  actual: string,
  others: readonly string[],
): readonly ChangedPart[] {
  if (expected.length + actual.length > LONGEST_COMPARED) return []
  const [ours, theirs] = [proseTokens(expected), proseTokens(actual)]
  const steady = others
    .map((other) => longestCommonSubsequence(theirs, proseTokens(other)))
    .reduce(
      (left, common) => {
        const kept = new Set(common.map((one) => one.expected))
        return left.map((is, at) => is && kept.has(at))
      },
      theirs.map(() => true),
    )
  const parts: ChangedPart[] = []
  let [row, column] = [0, 0]
  for (const next of [
    ...longestCommonSubsequence(ours, theirs),
    { expected: ours.length, actual: theirs.length },
  ]) {
    const isChanged = next.expected > row || next.actual > column
    if (isChanged && steady.slice(column, next.actual).every(Boolean)) {
      const [before, after] = [ours.slice(0, row).join(''), theirs.slice(0, column).join('')]
      parts.push({
        line: before.split('\n').length,
        expected: ours.slice(row, next.expected).join(''),
        actual: theirs.slice(column, next.actual).join(''),
        from: { expected: before.length, actual: after.length },
      })
    }
    row = next.expected + 1
    column = next.actual + 1
  }
  return parts.slice(0, MOST_PARTS)
}

const LONGEST_COMPARED = 100_000
