import type { RecordedMessage } from '../tape/turn.ts'
import { truncateText } from '../text.ts'
import type { ExchangeFacts } from './exchanges/exchange.ts'
import type { ExchangeOutcome } from './outcome.ts'

/** What one line says of an exchange. */
export interface ExchangeSummary {
  readonly sequence: number
  /** Milliseconds from the start of the tape. */
  readonly at: number
  /** Server and connection. */
  readonly link: string
  /** The method, and what the call is aimed at. */
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

/** What a server says of its errors may be long. */
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
