import { styleText } from 'node:util'

export type TextStyle = Parameters<typeof styleText>[0]

export interface TableCell {
  readonly text: string
  readonly style?: TextStyle
  readonly align?: 'right'
}

export function columnTitle(text: string, align?: 'right'): TableCell {
  return { text, style: 'dim', ...(align && { align }) }
}

/** Formats each row as a line with aligned columns, in colour if stdout is a terminal. */
export function alignRows(rows: readonly (readonly TableCell[])[]): readonly string[] {
  const widths = new ColumnWidths()
  for (const row of rows) widths.add(row)
  return rows.map((row) => alignRow(row, widths))
}

export class ColumnWidths {
  readonly #widths: number[] = []

  constructor(titles: readonly TableCell[] = []) {
    this.add(titles)
  }

  add(row: readonly TableCell[]): void {
    for (const [column, { text }] of row.entries())
      this.#widths[column] = Math.max(this.of(column), text.length)
  }

  of(column: number): number {
    return this.#widths[column] ?? 0
  }
}

/** Formats one row if the widths of the columns are known. */
export function alignRow(row: readonly TableCell[], widths: ColumnWidths): string {
  return row
    .map((cell, column) => alignCell(cell, widths.of(column)))
    .join('  ')
    .trimEnd()
}

function alignCell({ text, style, align }: TableCell, width: number): string {
  const space = ' '.repeat(width - text.length)
  const styled = style === undefined ? text : styleText(style, text)
  return align === 'right' ? space + styled : styled + space
}

/** Milliseconds for people: `0.4 ms`, `48.5 ms`, `2.31 s`, `12 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms.toFixed(1)} ms`
  return ms < 120_000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms / 60_000)} min`
}
