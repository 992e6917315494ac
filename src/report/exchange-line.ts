import type { Spoken } from '../tape/turn.ts'
import { shortened } from '../wire/visible.ts'
import type { ExchangeFacts } from './exchange-facts.ts'
import type { Outcome } from './outcome.ts'

/** What one line says of an exchange. */
export interface ExchangeLine {
  readonly sequence: number
  /** Milliseconds from the start of the tape. */
  readonly at: number
  /** Server and connection. */
  readonly link: string
  /** The method, and what the call is aimed at. */
  readonly title: string
  readonly latencyMs: number | undefined
  readonly outcome: ShortOutcome
  /** How many notifications came before the answer. */
  readonly notified: number
  readonly asked: readonly Asked[]
}

/** How an exchange went, in a few words. */
export interface ShortOutcome {
  readonly kind: Outcome['kind']
  readonly text: string
}

/** A question of the server to the client. */
export interface Asked {
  readonly method: string
  readonly isAnswered: boolean
}

export function lineOf({
  sequence,
  request,
  target,
  steps,
  latencyMs,
  outcome,
}: ExchangeFacts): ExchangeLine {
  return {
    sequence,
    at: request.t,
    link: linkOf(request),
    title: titleOf(request.message.method, target),
    latencyMs,
    outcome: shortOutcome(outcome),
    notified: steps.filter(({ kind }) => kind === 'notify').length,
    asked: steps.flatMap((step) => (step.kind === 'ask' ? [askedBy(step.request, step.answer)] : [])),
  }
}

export function titleOf(method: string, target: string | undefined): string {
  return target === undefined ? method : `${method} ${target}`
}

export function linkOf({ server, conn }: Pick<Spoken, 'server' | 'conn'>): string {
  return `${server}/${conn}`
}

export function askedBy({ message }: Spoken, answer: Spoken | undefined): Asked {
  const method = message.kind === 'request' ? shortened(message.method, 32) : 'something'
  return { method, isAnswered: answer !== undefined }
}

/** What a server says of its errors may be long. */
export function shortOutcome(outcome: Outcome): ShortOutcome {
  return { kind: outcome.kind, text: shortened(outcomeText(outcome), 60) }
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
