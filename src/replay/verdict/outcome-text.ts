import { findRange } from '../../json/find.ts'

/** The result or error of an answer, as an object of its own: paths in it begin with its name. */
export function outcomeText(text: string): string | undefined {
  for (const name of ['result', 'error']) {
    const range = findRange(text, [name])
    if (range !== undefined) return `{"${name}":${text.slice(range.start, range.end)}}`
  }
  return undefined
}
