/** A stretch of a text, and what is to stand there instead. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with all edits made; they must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text
  let result = ''
  let at = 0
  for (const edit of inOrder(edits)) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}

/**
 * The edits without overlaps. One that lies within another goes; two that overlap in part become one that covers both, so
 * that no end of a secret is left over.
 */
export function disjoint(
  edits: readonly Edit[],
  cover: (start: number, end: number) => string,
): readonly Edit[] {
  const result: Edit[] = []
  for (const edit of inOrder(edits)) {
    const last = result.at(-1)
    if (last === undefined || edit.start >= last.end) result.push(edit)
    else if (edit.end > last.end)
      result[result.length - 1] = { start: last.start, end: edit.end, text: cover(last.start, edit.end) }
  }
  return result
}

/** The edits that touch none of the others. */
export function besides(edits: readonly Edit[], others: readonly Edit[]): readonly Edit[] {
  if (others.length === 0) return edits
  return edits.filter(({ start, end }) => !others.some((other) => start < other.end && other.start < end))
}

function inOrder(edits: readonly Edit[]): readonly Edit[] {
  return edits.toSorted((a, b) => a.start - b.start || b.end - a.end)
}
