/** A stretch of a text, and what is to stand there instead. */
export interface TextReplacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with all edits made; they must not overlap. */
export function applyReplacements(text: string, edits: readonly TextReplacement[]): string {
  if (edits.length === 0) return text
  let result = ''
  let at = 0
  for (const edit of sortByStart(edits)) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}

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

function sortByStart(edits: readonly TextReplacement[]): readonly TextReplacement[] {
  return edits.toSorted((a, b) => a.start - b.start || b.end - a.end)
}
