import { Histogram } from '../replay/steps/histogram.ts'
import type { ExchangeSummary } from './exchange-line.ts'

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
export function callStats(exchanges: Iterable<ExchangeSummary>): readonly CallStats[] {
  const all = new CallCounts('all')
  const calls = new Map<string, CallCounts>()
  for (const exchange of exchanges) {
    const { title } = exchange
    const ofCall = calls.get(title) ?? new CallCounts(title)
    calls.set(title, ofCall)
    all.add(exchange)
    ofCall.add(exchange)
  }
  const byCall = [...calls.values()].map((counts) => counts.stats())
  return [all.stats(), ...byCall.toSorted((a, b) => b.count - a.count)]
}

const FAILURES: ReadonlySet<string> = new Set(['error', 'tool-error', 'miss'])

class CallCounts {
  readonly #call: string
  readonly #latencies: number[] = []
  #count = 0
  #errors = 0
  #unanswered = 0

  constructor(call: string) {
    this.#call = call
  }

  add({ latencyMs, outcome: { kind } }: ExchangeSummary): void {
    this.#count++
    if (FAILURES.has(kind)) this.#errors++
    if (kind === 'unanswered') this.#unanswered++
    if (latencyMs !== undefined) this.#latencies.push(latencyMs)
  }

  stats(): CallStats {
    const latencies = new Histogram() // many calls may have a name of their own, and a histogram takes more than most of them
    for (const latency of this.#latencies) latencies.add(latency)
    return {
      call: this.#call,
      count: this.#count,
      errors: this.#errors,
      unanswered: this.#unanswered,
      errorRate: this.#count === 0 ? 0 : this.#errors / this.#count,
      latency: {
        avg: latencies.mean,
        p50: latencies.percentile(0.5),
        p95: latencies.percentile(0.95),
        p99: latencies.percentile(0.99),
        max: latencies.max,
      },
    }
  }
}
