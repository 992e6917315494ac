import { base64 } from './base64.ts'
import { csv, tsv } from './csv.ts'
import type { TextFormat } from './format.ts'
import { json } from './json.ts'
import { jsonInText } from './json-in-text.ts'
import { jsonLines } from './json-lines.ts'
import { markdownTable } from './markdown-table.ts'
import { url } from './url.ts'
import { xml } from './xml.ts'

/** All formats, the most distinctive first. A text has the first format that can parse it. A text without a format is prose. */
export const TEXT_FORMATS: readonly TextFormat[] = [
  json,
  jsonLines,
  xml,
  url,
  base64,
  markdownTable,
  jsonInText,
  tsv,
  csv,
]

/** The values in two texts of the same format. */
export type ParsedPair =
  | {
      readonly kind: 'parsed'
      readonly format: TextFormat
      readonly expected: unknown
      readonly actual: unknown
    }
  /** Only the expected text has the format. */
  | { readonly kind: 'lost'; readonly format: TextFormat }
  | { readonly kind: 'prose' }

/** Parses two texts that differ by the format of the expected one. */
export function parseTextPair(expected: string, actual: string): ParsedPair {
  const parsed = parseText(expected)
  if (parsed === undefined) return PROSE
  const { format } = parsed
  const other = (format.parseLenient ?? format.parse)(actual)
  if (other === undefined && format === json) return parseLinePair(expected, actual)
  if (other === undefined) return { kind: 'lost', format }
  return { kind: 'parsed', format, expected: parsed.value, actual: other }
}

/** A text of one JSON line has the format of JSON if it is alone, and that of JSON lines if its counterpart has more lines. */
function parseLinePair(expected: string, actual: string): ParsedPair {
  const [line, lines] = [jsonLines.parseLenient?.(expected), jsonLines.parse(actual)]
  if (line === undefined || lines === undefined) return { kind: 'lost', format: json }
  return { kind: 'parsed', format: jsonLines, expected: line, actual: lines }
}

const PROSE: ParsedPair = { kind: 'prose' }

/** Returns the values in a structured text, or `undefined` if it is prose. */
export function parseText(
  text: string,
): { readonly format: TextFormat; readonly value: unknown } | undefined {
  if (!MAY_HAVE_STRUCTURE.test(text)) return undefined
  for (const format of TEXT_FORMATS) {
    const value = format.parse(text)
    if (value !== undefined) return { format, value }
  }
  return undefined
}

// A quick check, because most strings are short words.
const MAY_HAVE_STRUCTURE = /^\s*[{[<]|[|\t,;\n]|:\/\/|[{[]\s{0,100}["{]|^[\w+/-]{16,}={0,2}$/
