import { LONGEST_PARSED, type TextFormat } from './format.ts'
import { tableOf } from './table.ts'

/** A text with Markdown tables. `tables` has the tables, and `text` everything around them. */
export const markdownTable: TextFormat = {
  name: 'a Markdown table',
  parse: parseTables,
  // A text that lost its table has none, which is a missing table.
  parseLenient: (text) => parseTables(text) ?? { tables: [], text },
}

function parseTables(text: string): unknown {
  if (text.length > LONGEST_PARSED || !text.includes('|') || !text.includes('-')) return undefined
  const lines = text.split('\n')
  const tables: unknown[] = []
  const around: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (!line.includes('|') || !isDelimiterRow(lines[at + 1] ?? '')) {
      around.push(line)
      continue
    }
    const rows = [cellsOf(line)]
    at += 2
    for (; (lines[at] ?? '').includes('|'); at++) rows.push(cellsOf(lines[at] ?? ''))
    at--
    tables.push(tableOf(rows))
    around.push(TABLE)
  }
  return tables.length === 0 ? undefined : { tables, text: around.join('\n') }
}

const TABLE = '(table)'

function isDelimiterRow(line: string): boolean {
  if (!line.includes('|') || !line.includes('-')) return false
  return cellsOf(line).every((cell) => /^:?-+:?$/.test(cell))
}

/** Splits at bars that are not escaped. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = []
  const row = line.trim()
  let start = row.startsWith('|') ? 1 : 0
  for (let at = start; at < row.length; at++) {
    if (row[at] === '\\') at++
    else if (row[at] === '|') {
      cells.push(row.slice(start, at).trim())
      start = at + 1
    }
  }
  if (start < row.length) cells.push(row.slice(start).trim())
  return cells
}
