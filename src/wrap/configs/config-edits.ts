/** A stretch of a text, and what stands there afterwards. */
export interface ConfigEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Makes edits that do not overlap. What is put in before something that changes stands before it. */
export function applyConfigEdits(text: string, edits: readonly ConfigEdit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start || b.end - a.end)
    .reduce((whole, { start, end, text: now }) => whole.slice(0, start) + now + whole.slice(end), text)
}
