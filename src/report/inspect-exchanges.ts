import { styleText } from 'node:util'
import { shortened } from '../wire/visible.ts'
import { durationText } from './duration.ts'
import { lineOf, type Asked, type ExchangeLine } from './exchange-line.ts'
import type { Inspection } from './inspect.ts'
import type { Outcome } from './outcome.ts'
import { alignRow, heading, Widths, type Cell, type Style } from './table.ts'

/** A line of headings, then one line for each exchange; none when there was no exchange. */
export function exchangeLines({ exchanges, connections }: Inspection): readonly string[] {
  const lines = exchanges.map(lineOf)
  return lines.length === 0 ? [] : [...alignedLines(lines, connections.length > 1)]
}

/** The same for lines that are not all in memory: they are gone through twice. */
export function* alignedLines(lines: Iterable<ExchangeLine>, manyLinks: boolean): Generator<string> {
  const titles = headingRow(manyLinks)
  const widths = new Widths(titles)
  for (const line of lines) widths.add(exchangeRow(line, manyLinks))
  yield alignRow(titles, widths)
  for (const line of lines) yield alignRow(exchangeRow(line, manyLinks), widths) + extrasText(line)
}

/** The titles of the columns of an exchange. */
export function headingRow(manyLinks: boolean): readonly Cell[] {
  const links = manyLinks ? [heading('link')] : []
  return [
    heading('#', 'right'),
    heading('at', 'right'),
    ...links,
    heading('request'),
    heading('latency', 'right'),
    heading('outcome'),
  ]
}

/** An exchange in columns. */
export function exchangeRow(line: ExchangeLine, manyLinks: boolean): readonly Cell[] {
  const { sequence, at, link, title, latencyMs, outcome } = line
  return [
    { text: String(sequence), align: 'right' },
    { text: `+${durationText(at)}`, align: 'right', style: 'dim' },
    ...(manyLinks ? [{ text: shortened(link, 24) }] : []),
    { text: shortened(title, 48) },
    { text: latencyMs === undefined ? '' : durationText(latencyMs), align: 'right' },
    { text: outcome.text, style: STYLE_OF[outcome.kind] },
  ]
}

const STYLE_OF: Readonly<Record<Outcome['kind'], Style>> = {
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
export function extrasText({ notified, asked }: ExchangeLine): string {
  const counted = notified === 0 ? [] : [notified === 1 ? '1 notification' : `${notified} notifications`]
  const extras = [...counted, ...asked.map(askedText)].join(', ')
  return extras === '' ? '' : `  ${styleText('dim', extras)}`
}

function askedText({ method, isAnswered }: Asked): string {
  return isAnswered ? `asked ${method}` : `asked ${method} in vain`
}
