import { sortByStart, type TextReplacement } from '../json/splice.ts'

/**
 * The edits without overlaps. One that lies within another goes; two that overlap in part become one that covers both, so
 * that no end of a secret is left over.
 */
export function mergeOverlapping(
  edits: readonly TextReplacement[],
  cover: (start: number, end: number) => string,
): readonly TextReplacement[] {
  const result: TextReplacement[] = []
  for (const edit of sortByStart(edits)) {
    const last = result.at(-1)
    if (last === undefined || edit.start >= last.end) result.push(edit)
    else if (edit.end > last.end)
      result[result.length - 1] = { start: last.start, end: edit.end, text: cover(last.start, edit.end) }
  }
  return result
}

/** The edits that touch none of the others. */
export function withoutOverlaps(
  edits: readonly TextReplacement[],
  others: readonly TextReplacement[],
): readonly TextReplacement[] {
  if (others.length === 0) return edits
  return edits.filter(({ start, end }) => !others.some((other) => start < other.end && other.start < end))
}
