import type { Frame } from '../tape/frame.ts'
import type { ExchangeFacts } from './exchanges/exchange.ts'

/** Adds to requests without an answer what HTTP said instead, such as 401. */
export function withHttpStatuses(
  exchanges: readonly ExchangeFacts[],
  frames: readonly Frame[],
): readonly ExchangeFacts[] {
  const statuses = new Map<string, number>()
  for (const frame of frames)
    if (frame.kind === 'http' && 'status' in frame.http)
      statuses.set(httpExchangeKey(frame), frame.http.status)
  return exchanges.map((exchange) => {
    const status = statuses.get(httpExchangeKey(exchange.request))
    if (exchange.outcome.kind !== 'unanswered' || status === undefined) return exchange
    return { ...exchange, outcome: { kind: 'unanswered', status } }
  })
}

function httpExchangeKey({ server, x }: { readonly server: string; readonly x?: number }): string {
  return JSON.stringify([server, x])
}
