import { Histogram } from '../replay/histogram.ts'
import type { Tape } from '../store/read.ts'
import { exchangesOf, type ExchangeFacts } from './exchange-facts.ts'

/** How often something was asked, how fast it was answered, how often it failed. */
export interface CallStats {
  /** A method, with the tool, prompt or resource where there is one; `all` for all of them. */
  readonly call: string
  readonly count: number
  /** Answered with an error, or by a tool that failed. */
  readonly errors: number
  /** Never answered, though nobody cancelled. */
  readonly unanswered: number
  readonly errorRate: number
  /** Milliseconds, of those that were answered; within one percent. */
  readonly latency: {
    readonly avg: number
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly max: number
  }
}

/** The numbers of a tape: of everything first, then call by call, the most frequent first. */
export function statsOf({ turns }: Pick<Tape, 'turns'>): readonly CallStats[] {
  const exchanges = exchangesOf(turns)
  const calls = [...grouped(exchanges)].map(([call, ofCall]) => statsFor(call, ofCall))
  return [statsFor('all', exchanges), ...calls.toSorted((a, b) => b.count - a.count)]
}

function grouped(exchanges: readonly ExchangeFacts[]): ReadonlyMap<string, readonly ExchangeFacts[]> {
  const groups = new Map<string, ExchangeFacts[]>()
  for (const exchange of exchanges) {
    const group = groups.get(callOf(exchange)) ?? []
    group.push(exchange)
    groups.set(callOf(exchange), group)
  }
  return groups
}

function callOf({ request, target }: ExchangeFacts): string {
  return target === undefined ? request.message.method : `${request.message.method} ${target}`
}

function statsFor(call: string, exchanges: readonly ExchangeFacts[]): CallStats {
  const latencies = new Histogram()
  for (const { latencyMs } of exchanges) if (latencyMs !== undefined) latencies.add(latencyMs)
  const count = (...kinds: readonly string[]): number =>
    exchanges.filter(({ outcome }) => kinds.includes(outcome.kind)).length
  const errors = count('error', 'tool-error', 'miss')
  return {
    call,
    count: exchanges.length,
    errors,
    unanswered: count('unanswered'),
    errorRate: exchanges.length === 0 ? 0 : errors / exchanges.length,
    latency: {
      avg: latencies.mean,
      p50: latencies.percentile(0.5),
      p95: latencies.percentile(0.95),
      p99: latencies.percentile(0.99),
      max: latencies.max,
    },
  }
}
