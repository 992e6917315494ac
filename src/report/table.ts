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
  const widths: number[] = []
  for (const row of rows)
    for (const [column, { text }] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, text.length)
  return rows.map((row) =>
    row
      .map((cell, column) => alignCell(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function alignCell({ text, style, align }: Cell, width: number): string {
  const space = ' '.repeat(width - text.length)
  const styled = style === undefined ? text : styleText(style, text)
  return align === 'right' ? space + styled : styled + space
}
