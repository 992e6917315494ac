import { styleText } from 'node:util'

export type Style = Parameters<typeof styleText>[0]

export interface Cell {
  readonly text: string
  readonly style?: Style
  readonly align?: 'right'
}

/** A column's title. */
export function heading(text: string, align?: 'right'): Cell {
  return { text, style: 'dim', ...(align && { align }) }
}

/** One line a row, its cells in columns; colour only where stdout is a terminal. */
export function alignRows(rows: readonly (readonly Cell[])[]): readonly string[] {
  const widths = new Widths()
  for (const row of rows) widths.add(row)
  return rows.map((row) => alignRow(row, widths))
}

/** How wide the columns of a table are. */
export class Widths {
  readonly #widths: number[] = []

  constructor(titles: readonly Cell[] = []) {
    this.add(titles)
  }

  add(row: readonly Cell[]): void {
    for (const [column, { text }] of row.entries())
      this.#widths[column] = Math.max(this.of(column), text.length)
  }

  of(column: number): number {
    return this.#widths[column] ?? 0
  }
}

/** One row of a table whose widths are known. */
export function alignRow(row: readonly Cell[], widths: Widths): string {
  return row
    .map((cell, column) => alignCell(cell, widths.of(column)))
    .join('  ')
    .trimEnd()
}

function alignCell({ text, style, align }: Cell, width: number): string {
  const space = ' '.repeat(width - text.length)
  const styled = style === undefined ? text : styleText(style, text)
  return align === 'right' ? space + styled : styled + space
}
