import { setMember } from './format.ts'

interface TextTable {
  readonly columns: readonly string[]
  readonly rows: readonly unknown[]
}

/** Makes a table of cells. Rows are objects if the cells of the first row can name the columns, and lists otherwise. */
export function tableOf([columns = [], ...rows]: readonly (readonly string[])[]): TextTable {
  const canName = new Set(columns).size === columns.length && columns.every((name) => name !== '')
  return { columns, rows: canName ? rows.map((cells) => namedCells(columns, cells)) : rows }
}

/** Cells beyond the last column are named by their number. */
function namedCells(columns: readonly string[], cells: readonly string[]): object {
  const row = {}
  for (const [at, cell] of cells.entries()) setMember(row, columns[at] ?? `column ${at + 1}`, cell)
  return row
}
