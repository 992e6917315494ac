import type { ExchangeSummary } from './exchanges.ts'
import { formatDuration, alignRows, columnTitle, type TableCell } from './table.ts'
import { truncateText } from '../text.ts'
import { Histogram } from '../histogram.ts'

/** Counts and latencies of one kind of call. */
export interface CallStats {
  /** The method and, if there is one, the tool, prompt or resource. `all` for the sum of all calls. */
  readonly call: string
  readonly count: number
  /** Calls that got an error, over HTTP too, whose tool failed, or whose connection was lost. */
  readonly errors: number
  /** Calls that were neither answered nor cancelled. */
  readonly unanswered: number
  readonly errorRate: number
  /** Milliseconds of the answered calls, with an error of at most one percent. */
  readonly latency: {
    readonly avg: number
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly max: number
  }
}

/** The statistics of all calls, then of each kind of call, the most frequent first. */
export function callStats(exchanges: Iterable<ExchangeSummary>): readonly CallStats[] {
  const counter = new CallCounter()
  counter.add(exchanges)
  return counter.stats()
}

/** Counts the calls of several tapes together. */
export class CallCounter {
  readonly #all = new CallCounts('all')
  readonly #calls = new Map<string, CallCounts>()

  add(exchanges: Iterable<ExchangeSummary>): void {
    for (const exchange of exchanges) {
      const { title } = exchange
      const ofCall = this.#calls.get(title) ?? new CallCounts(title)
      this.#calls.set(title, ofCall)
      this.#all.add(exchange)
      ofCall.add(exchange)
    }
  }

  stats(): readonly CallStats[] {
    const byCall = [...this.#calls.values()].map((counts) => counts.stats())
    return [this.#all.stats(), ...byCall.toSorted((a, b) => b.count - a.count)]
  }
}

const FAILURES: ReadonlySet<string> = new Set(['error', 'tool-error', 'http-error', 'lost', 'miss'])

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
    const latencies = new Histogram() // created here because a histogram takes more memory than the few latencies of most kinds
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

/** Formats one line for all calls, then one line for each kind. */
export function statsAsText(stats: readonly CallStats[]): string {
  return alignRows([STATS_TITLES, ...stats.map(statsRow)])
    .map((line) => `${line}\n`)
    .join('')
}

const STATS_TITLES: readonly TableCell[] = [
  columnTitle('call'),
  ...['count', 'errors', 'unanswered', 'avg', 'p50', 'p95', 'p99', 'max'].map((title) =>
    columnTitle(title, 'right'),
  ),
]

function statsRow({ call, count, errors, unanswered, errorRate, latency }: CallStats): readonly TableCell[] {
  const failed = errors === 0 ? '0' : `${errors} (${(errorRate * 100).toFixed(1)} %)`
  return [
    { text: truncateText(call, 48) },
    { text: String(count), align: 'right' },
    { text: failed, align: 'right', ...(errors > 0 && { style: 'red' }) },
    { text: String(unanswered), align: 'right' },
    ...[latency.avg, latency.p50, latency.p95, latency.p99, latency.max].map((ms): TableCell => ({
      text: formatDuration(ms),
      align: 'right',
    })),
  ]
}
