import { member } from '../json/parse.ts'
import type { Response } from './message.ts'

/** How a request ended. */
export type ExchangeOutcome =
  | { readonly kind: 'ok' }
  /** The server answered with a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code: number | null; readonly message: string }
  /** The server was a tape that has no response to the request. */
  | { readonly kind: 'miss'; readonly message: string }
  /** The result of the tool says that it failed. */
  | { readonly kind: 'tool-error'; readonly message: string }
  /** The server needs input before it can respond (2026-07-28). */
  | { readonly kind: 'input-required' }
  | { readonly kind: 'cancelled' }
  /** Nothing came, or an HTTP response of this status without a JSON-RPC response, such as 202. */
  | { readonly kind: 'unanswered'; readonly status?: number }
  /** The server answered with an HTTP status of 400 or more, and without a JSON-RPC response. */
  | { readonly kind: 'http-error'; readonly status: number; readonly body?: string }
  /** The server could not be reached, disconnected or ended before it responded. */
  | { readonly kind: 'lost'; readonly why: string }
  /** Only the beginning of the response was recorded. */
  | { readonly kind: 'cut' }

export type OutcomeKind = ExchangeOutcome['kind']

/** The outcome of a request, from its response. */
export function exchangeOutcome(response: Response | undefined, without: NoResponseReason): ExchangeOutcome {
  if (response === undefined) return { kind: without }
  return 'error' in response.outcome
    ? errorOutcome(response.outcome.error)
    : resultOutcome(response.outcome.result)
}

/** Returns true if the text of a response shows, without parsing it, that its outcome is `ok`. */
export function isPlainlyOk(json: string): boolean {
  return json.includes('"result"') && !NOT_OK.some((mark) => json.includes(mark))
}

const NOT_OK = ['"error"', '"isError"', '"resultType"', String.raw`\u`]

/** The outcome of a request without a response. */
export type NoResponseReason = 'cancelled' | 'unanswered' | 'cut'

function errorOutcome(error: unknown): ExchangeOutcome {
  const message = textOrEmpty(member(error, 'message'))
  if (member(member(error, 'data'), 'kind') === 'replay_miss') return { kind: 'miss', message }
  const code = member(error, 'code')
  return { kind: 'error', code: typeof code === 'number' ? code : null, message }
}

function resultOutcome(result: unknown): ExchangeOutcome {
  if (member(result, 'resultType') === 'input_required') return { kind: 'input-required' }
  if (member(result, 'isError') === true) return { kind: 'tool-error', message: firstText(result) }
  return { kind: 'ok' }
}

function firstText(result: unknown): string {
  const content = member(result, 'content')
  const texts = Array.isArray(content) ? content.map((item: unknown) => member(item, 'text')) : []
  return textOrEmpty(texts.find((text) => typeof text === 'string'))
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
