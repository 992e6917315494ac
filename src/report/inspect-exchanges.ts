import { styleText } from 'node:util'
import { durationText } from './duration.ts'
import type { ExchangeFacts } from './exchange-facts.ts'
import type { Inspection } from './inspect.ts'
import type { Outcome } from './outcome.ts'
import { alignRows, heading, type Cell, type Style } from './table.ts'
import { shortened } from '../wire/visible.ts'

/** A line of headings, then one line for each exchange; none when there was no exchange. */
export function exchangeLines({ exchanges, connections }: Inspection): readonly string[] {
  if (exchanges.length === 0) return []
  const rows = exchanges.map((exchange) => exchangeRow(exchange, connections.length > 1))
  const [headings = '', ...lines] = alignRows([headingRow(connections.length > 1), ...rows])
  return [headings, ...lines.map((line, index) => line + extrasText(exchanges[index]))]
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
export function exchangeRow(exchange: ExchangeFacts, manyLinks: boolean): readonly Cell[] {
  const { sequence, request, target, latencyMs, outcome } = exchange
  const title = target === undefined ? request.message.method : `${request.message.method} ${target}`
  const links = manyLinks ? [{ text: shortened(`${request.server}/${request.conn}`, 24) }] : []
  return [
    { text: String(sequence), align: 'right' },
    { text: `+${durationText(request.t)}`, align: 'right', style: 'dim' },
    ...links,
    { text: shortened(title, 48) },
    { text: latencyMs === undefined ? '' : durationText(latencyMs), align: 'right' },
    { text: shortened(outcomeText(outcome), 60), style: STYLE_OF[outcome.kind] },
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

function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'error':
      return `error ${outcome.code ?? 'without a code'}: ${outcome.message}`
    case 'miss':
      return `miss: ${outcome.message}`
    case 'tool-error':
      return `tool error: ${outcome.message}`
    case 'input-required':
      return 'input required'
    case 'cut':
      return 'answer cut'
    case 'ok':
    case 'cancelled':
      return outcome.kind
    case 'unanswered':
      return outcome.status === undefined ? 'unanswered' : `unanswered, HTTP ${outcome.status}`
  }
}

/** What happened between request and answer, in words that follow the columns. */
export function extrasText(exchange: ExchangeFacts | undefined): string {
  const steps = exchange?.steps ?? []
  const notified = steps.filter(({ kind }) => kind === 'notify').length
  const asked = steps.flatMap((step) => (step.kind === 'ask' ? [askedText(step)] : []))
  const counted = notified === 0 ? [] : [notified === 1 ? '1 notification' : `${notified} notifications`]
  const extras = [...counted, ...asked].join(', ')
  return extras === '' ? '' : `  ${styleText('dim', extras)}`
}

function askedText({ request, answer }: Extract<ExchangeFacts['steps'][number], { kind: 'ask' }>): string {
  const method = request.message.kind === 'request' ? shortened(request.message.method, 32) : 'something'
  return answer === undefined ? `asked ${method} in vain` : `asked ${method}`
}
