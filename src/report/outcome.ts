import { member, type Response } from '../protocol/message.ts'

/** How one exchange went. */
export type ExchangeOutcome =
  | { readonly kind: 'ok' }
  /** The server answered with a JSON-RPC error. */
  | { readonly kind: 'error'; readonly code: number | null; readonly message: string }
  /** The server was a tape, and had no answer. */
  | { readonly kind: 'miss'; readonly message: string }
  /** The tool ran and says that it failed. */
  | { readonly kind: 'tool-error'; readonly message: string }
  /** The server wants more before it answers (2026-07-28). */
  | { readonly kind: 'input-required' }
  | { readonly kind: 'cancelled' }
  /** Over HTTP there may be a status all the same, such as 401. */
  | { readonly kind: 'unanswered'; readonly status?: number }
  /** It was answered, and only the beginning of the answer was kept. */
  | { readonly kind: 'cut' }

export function exchangeOutcome(response: Response | undefined, without: NoResponseReason): ExchangeOutcome {
  if (response === undefined) return { kind: without }
  return 'error' in response.outcome
    ? errorOutcome(response.outcome.error)
    : resultOutcome(response.outcome.result)
}

/** What it means that there is no response. */
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
