import { LONGEST_PARSED, type TextFormat } from './format.ts'
import { tableOf } from './table.ts'

/** Lines with the same number of cells, separated by commas, semicolons or tabs. The first line names the columns. */
export const csv: TextFormat = formatWith('CSV', [',', ';'])
export const tsv: TextFormat = formatWith('TSV', ['\t'])

function formatWith(name: string, separators: readonly string[]): TextFormat {
  const parse = (text: string, isStrict: boolean): unknown => {
    if (text.length > LONGEST_PARSED || MARKUP.test(text)) return undefined
    for (const separator of separators) {
      const rows = readRows(text, separator)
      if (rows !== undefined && (isStrict ? isRegular(rows) && !isProse(rows) : isTable(rows)))
        return tableOf(rows)
    }
    return undefined
  }
  return { name, parse: (text) => parse(text, true), parseLenient: (text) => parse(text, false) }
}

const MARKUP = /^\s*[<|{[]/

function isTable([columns = [], ...rows]: readonly (readonly string[])[]): boolean {
  return columns.length > 1 && rows.every(({ length }) => length > 0)
}

function isRegular(rows: readonly (readonly string[])[]): boolean {
  const width = rows[0]?.length ?? 0
  return rows.length > 1 && width > 1 && rows.every(({ length }) => length === width)
}

/** Sentences with the same number of commas are not a table: a space follows each comma, and most parts have several words. */
function isProse(rows: readonly (readonly string[])[]): boolean {
  const parts = rows.flatMap((row) => row.slice(1))
  const phrases = rows.flat().filter((cell) => cell.trim().includes(' '))
  return parts.every((part) => part.startsWith(' ')) && phrases.length * 2 > rows.flat().length
}

/** Returns `undefined` if a quoted cell has no end. */
function readRows(text: string, separator: string): readonly (readonly string[])[] | undefined {
  if (!text.includes(separator)) return undefined
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, separator)
    if (cell === undefined) return undefined
    row.push(cell.value)
    at = cell.end
    if (text[at] === separator) {
      at++
      if (at < text.length) continue
      row.push('')
    } else if (text[at] === '\r' && text[at + 1] === '\n') at += 2
    else if (text[at] === '\n') at++
    else if (at < text.length) return undefined // Something follows the closing quote.
    rows.push(row)
    row = []
  }
  while (rows.length > 0 && rows.at(-1)?.join('') === '') rows.pop()
  return rows
}

interface Cell {
  readonly value: string
  readonly end: number
}

function plainCell(text: string, start: number, separator: string): Cell {
  let end = start
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end++
  if (text[end] === '\n' && end > start && text[end - 1] === '\r') end--
  return { value: text.slice(start, end), end }
}

function quotedCell(text: string, start: number): Cell | undefined {
  let value = ''
  let from = start + 1
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return undefined
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    from = quote + 2
  }
}
