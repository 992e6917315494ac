import { styleText } from 'node:util'
import { truncateText } from '../../text.ts'
import { formatDuration } from '../duration.ts'
import { summarizeExchange, type ServerRequestSummary, type ExchangeSummary } from '../exchange-line.ts'
import type { Inspection } from '../inspect/inspect.ts'
import type { ExchangeOutcome } from '../outcome.ts'
import { alignRow, columnTitle, ColumnWidths, type TableCell, type TextStyle } from '../table.ts'

/** A line of headings, then one line for each exchange; none when there was no exchange. */
export function exchangeTable({ exchanges, connections }: Inspection): readonly string[] {
  const lines = exchanges.map(summarizeExchange)
  return lines.length === 0 ? [] : [...exchangeTableLines(lines, connections.length > 1)]
}

/** The same for lines that are not all in memory: they are gone through twice. */
export function* exchangeTableLines(lines: Iterable<ExchangeSummary>, manyLinks: boolean): Generator<string> {
  const titles = exchangeTitles(manyLinks)
  const widths = new ColumnWidths(titles)
  for (const line of lines) widths.add(exchangeRow(line, manyLinks))
  yield alignRow(titles, widths)
  for (const line of lines) yield alignRow(exchangeRow(line, manyLinks), widths) + exchangeExtras(line)
}

/** The titles of the columns of an exchange. */
export function exchangeTitles(manyLinks: boolean): readonly TableCell[] {
  const links = manyLinks ? [columnTitle('link')] : []
  return [
    columnTitle('#', 'right'),
    columnTitle('at', 'right'),
    ...links,
    columnTitle('request'),
    columnTitle('latency', 'right'),
    columnTitle('outcome'),
  ]
}

/** An exchange in columns. */
export function exchangeRow(line: ExchangeSummary, manyLinks: boolean): readonly TableCell[] {
  const { sequence, at, link, title, latencyMs, outcome } = line
  return [
    { text: String(sequence), align: 'right' },
    { text: `+${formatDuration(at)}`, align: 'right', style: 'dim' },
    ...(manyLinks ? [{ text: truncateText(link, 24) }] : []),
    { text: truncateText(title, 48) },
    { text: latencyMs === undefined ? '' : formatDuration(latencyMs), align: 'right' },
    { text: outcome.text, style: OUTCOME_STYLES[outcome.kind] },
  ]
}

const OUTCOME_STYLES: Readonly<Record<ExchangeOutcome['kind'], TextStyle>> = {
  ok: 'green',
  error: 'red',
  miss: 'red',
  'tool-error': 'red',
  'input-required': 'yellow',
  cancelled: 'yellow',
  unanswered: 'yellow',
  cut: 'yellow',
}

/** What happened between request and answer, in words that follow the columns. */
export function exchangeExtras({ notificationCount, serverRequests }: ExchangeSummary): string {
  const counted =
    notificationCount === 0
      ? []
      : [notificationCount === 1 ? '1 notification' : `${notificationCount} notifications`]
  const extras = [...counted, ...serverRequests.map(serverRequestText)].join(', ')
  return extras === '' ? '' : `  ${styleText('dim', extras)}`
}

function serverRequestText({ method, isAnswered }: ServerRequestSummary): string {
  return isAnswered ? `asked ${method}` : `asked ${method} in vain`
}
