import { styleText } from 'node:util'
import type { ExchangeOutcome, ExchangeFacts } from './exchange.ts'
import type { Inspection } from '../inspect/inspect.ts'
import {
  formatDuration,
  alignRow,
  columnTitle,
  ColumnWidths,
  type TableCell,
  type TextStyle,
} from '../table.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import { truncateText } from '../../text.ts'

/** A line of headings, then one line for each exchange; none when there was no exchange. */
export function exchangeTable({ exchanges, connections }: Inspection): readonly string[] {
  const lines = exchanges.map(summarizeExchange)
  return lines.length === 0 ? [] : [...exchangeTableLines(lines, connections.length > 1)]
}

/** Like `exchangeTable`, for exchanges that are not in memory. It reads them twice. */
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

/** Describes the messages between request and response, after the columns. */
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

/** An exchange, as one line of a table shows it. */
export interface ExchangeSummary {
  readonly sequence: number
  /** Milliseconds from the start of the tape. */
  readonly at: number
  /** Server and connection. */
  readonly link: string
  /** The method, and the tool, prompt or resource. */
  readonly title: string
  readonly latencyMs: number | undefined
  readonly outcome: OutcomeSummary
  /** How many notifications came before the answer. */
  readonly notificationCount: number
  readonly serverRequests: readonly ServerRequestSummary[]
}

/** How an exchange went, in a few words. */
export interface OutcomeSummary {
  readonly kind: ExchangeOutcome['kind']
  readonly text: string
}

/** A question of the server to the client. */
export interface ServerRequestSummary {
  readonly method: string
  readonly isAnswered: boolean
}

export function summarizeExchange({
  sequence,
  request,
  target,
  steps,
  latencyMs,
  outcome,
}: ExchangeFacts): ExchangeSummary {
  return {
    sequence,
    at: request.t,
    link: connectionLabel(request),
    title: exchangeTitle(request.message.method, target),
    latencyMs,
    outcome: summarizeOutcome(outcome),
    notificationCount: steps.filter(({ kind }) => kind === 'notify').length,
    serverRequests: steps.flatMap((step) =>
      step.kind === 'ask' ? [summarizeServerRequest(step.request, step.answer)] : [],
    ),
  }
}

export function exchangeTitle(method: string, target: string | undefined): string {
  return target === undefined ? method : `${method} ${target}`
}

export function connectionLabel({ server, conn }: Pick<RecordedMessage, 'server' | 'conn'>): string {
  return `${server}/${conn}`
}

export function summarizeServerRequest(
  { message }: RecordedMessage,
  answer: RecordedMessage | undefined,
): ServerRequestSummary {
  const method = message.kind === 'request' ? truncateText(message.method, 32) : 'something'
  return { method, isAnswered: answer !== undefined }
}

/** Error messages of a server may be long. */
export function summarizeOutcome(outcome: ExchangeOutcome): OutcomeSummary {
  return { kind: outcome.kind, text: truncateText(outcomeText(outcome), 60) }
}

function outcomeText(outcome: ExchangeOutcome): string {
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
