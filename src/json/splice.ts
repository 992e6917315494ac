import { findRange } from './find.ts'
import type { JsonPath } from './path.ts'
import type { JsonRange } from './scan.ts'

/** A range of a text and the text to put there. */
export interface TextReplacement extends JsonRange {
  readonly text: string
}

export function replaceRange(text: string, { start, end }: JsonRange, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** Replaces the value at a path and keeps every other byte. Returns the text unchanged if there is no such value. */
export function replaceValue(text: string, path: JsonPath, replacement: string): string {
  const range = findRange(text, path)
  return range === undefined ? text : replaceRange(text, range, replacement)
}

/** Makes all replacements, which must not overlap. */
export function applyReplacements(text: string, replacements: readonly TextReplacement[]): string {
  if (replacements.length === 0) return text
  let result = ''
  let at = 0
  for (const { start, end, text: replacement } of sortByStart(replacements)) {
    result += text.slice(at, start) + replacement
    at = end
  }
  return result + text.slice(at)
}

/** Sorts replacements by their start; of those that start together, the longest comes first. */
export function sortByStart(replacements: readonly TextReplacement[]): readonly TextReplacement[] {
  return replacements.toSorted((a, b) => a.start - b.start || b.end - a.end)
}
