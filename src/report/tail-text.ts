import type { ExchangeFacts } from './exchanges/exchange.ts'
import { summarizeExchange } from './exchange-line.ts'
import { exchangeRow, exchangeExtras, exchangeTitles } from './exchanges/exchange-table.ts'
import { alignRows, type TableCell } from './table.ts'

/** Lines of exchanges as `inspect` has them, one at a time: their columns have a width before their content is known. */
export interface TailFormatter {
  readonly heading: string
  readonly line: (exchange: ExchangeFacts) => string
}

export function createTailFormatter(manyLinks: boolean): TailFormatter {
  const widths = [4, 10, ...(manyLinks ? [16] : []), 32, 9, 0]
  const blank = widths.map((width): TableCell => ({ text: ' '.repeat(width) }))
  const aligned = (row: readonly TableCell[]): string => alignRows([blank, row])[1] ?? ''
  return {
    heading: aligned(exchangeTitles(manyLinks)),
    line: (exchange) => {
      const line = summarizeExchange(exchange)
      return aligned(exchangeRow(line, manyLinks)) + exchangeExtras(line)
    },
  }
}
