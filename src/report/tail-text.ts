import type { ExchangeFacts } from './exchange-facts.ts'
import { lineOf } from './exchange-line.ts'
import { exchangeRow, extrasText, headingRow } from './inspect-exchanges.ts'
import { alignRows, type Cell } from './table.ts'

/** Lines of exchanges as `inspect` has them, one at a time: their columns have a width before their content is known. */
export interface TailText {
  readonly heading: string
  readonly line: (exchange: ExchangeFacts) => string
}

export function tailText(manyLinks: boolean): TailText {
  const widths = [4, 10, ...(manyLinks ? [16] : []), 32, 9, 0]
  const blank = widths.map((width): Cell => ({ text: ' '.repeat(width) }))
  const aligned = (row: readonly Cell[]): string => alignRows([blank, row])[1] ?? ''
  return {
    heading: aligned(headingRow(manyLinks)),
    line: (exchange) => {
      const line = lineOf(exchange)
      return aligned(exchangeRow(line, manyLinks)) + extrasText(line)
    },
  }
}
