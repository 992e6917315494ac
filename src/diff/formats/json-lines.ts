import { parseExactJson } from '../../json/exact-number.ts'
import type { TextFormat } from './format.ts'

/** At least two lines that are JSON objects or arrays. The path of a line is its index among the lines that are not empty. */
export const jsonLines: TextFormat = {
  name: 'JSON lines',
  parse: (text) => parseLines(text, 2),
  parseLenient: (text) => parseLines(text, 1),
  ignoresLayout: true,
  isDistinctive: true,
}

function parseLines(text: string, fewest: number): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  const values: unknown[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const value = /^\s*[{[]/.test(line) ? parseExactJson(line) : undefined
    if (value === undefined) return undefined
    values.push(value)
  }
  return values.length >= fewest ? values : undefined
}
