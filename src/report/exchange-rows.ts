import { ValueTable } from '../replay/columns.ts'
import { uint32Column, float64Column } from '../store/columns.ts'
import {
  summarizeOutcome,
  type ServerRequestSummary,
  type ExchangeSummary,
  type OutcomeSummary,
} from './exchange-line.ts'
import type { ExchangeOutcome } from './outcome.ts'

/** The exchanges of a tape in the order of their requests, as a few numbers each: of a tape of any size these fit into memory. */
export class ExchangeRows implements Iterable<ExchangeSummary> {
  readonly #at = float64Column()
  /** Not a number while it is not answered. */
  readonly #latency = float64Column()
  readonly #link = uint32Column()
  readonly #title = uint32Column()
  readonly #outcome = uint32Column()
  readonly #notified = uint32Column()
  readonly #serverRequests = new Map<number, readonly ServerRequestSummary[]>()
  readonly #links = new ValueTable<string>()
  readonly #titles = new ValueTable<string>()
  readonly #outcomes = new ValueTable<OutcomeSummary>()

  get size(): number {
    return this.#at.length
  }

  /** The row of a request, which nobody has answered yet. */
  begin({ at, link, title }: Pick<ExchangeSummary, 'at' | 'link' | 'title'>): number {
    this.#at.push(at)
    this.#latency.push(Number.NaN)
    this.#link.push(this.#links.numberOf(link, link))
    this.#title.push(this.#titles.numberOf(title, title))
    this.#outcome.push(this.#numberOf({ kind: 'unanswered' }))
    this.#notified.push(0)
    return this.size - 1
  }

  setAnswered(row: number, latencyMs: number, outcome: ExchangeOutcome): void {
    this.#latency.set(row, latencyMs)
    this.#outcome.set(row, this.#numberOf(outcome))
  }

  /** What is known of a request without an answer. */
  setOutcome(row: number, outcome: ExchangeOutcome): void {
    this.#outcome.set(row, this.#numberOf(outcome))
  }

  countNotification(row: number): void {
    this.#notified.set(row, this.#notified.at(row) + 1)
  }

  /** A question, which is written down again when it is answered. */
  setServerRequest(
    row: number,
    asked: ServerRequestSummary,
    place: number = this.#serverRequestsIn(row).length,
  ): number {
    const list = [...this.#serverRequestsIn(row)]
    list[place] = asked
    this.#serverRequests.set(row, list)
    return place
  }

  outcomeKind(row: number): ExchangeOutcome['kind'] {
    return this.#short(row).kind
  }

  /** Milliseconds, of those that were answered. */
  latencies(): Float64Array {
    const latencies = this.#latency.toArray()
    let count = 0
    for (const latency of latencies) if (!Number.isNaN(latency)) latencies[count++] = latency
    return latencies.subarray(0, count)
  }

  *[Symbol.iterator](): Generator<ExchangeSummary> {
    for (let row = 0; row < this.size; row++) yield this.#summaryOf(row)
  }

  #summaryOf(row: number): ExchangeSummary {
    const latencyMs = this.#latency.at(row)
    return {
      sequence: row + 1,
      at: this.#at.at(row),
      link: this.#links.list[this.#link.at(row)] ?? '',
      title: this.#titles.list[this.#title.at(row)] ?? '',
      latencyMs: Number.isNaN(latencyMs) ? undefined : latencyMs,
      outcome: this.#short(row),
      notificationCount: this.#notified.at(row),
      serverRequests: this.#serverRequestsIn(row),
    }
  }

  #serverRequestsIn(row: number): readonly ServerRequestSummary[] {
    return this.#serverRequests.get(row) ?? NO_SERVER_REQUESTS
  }

  #short(row: number): OutcomeSummary {
    return this.#outcomes.list[this.#outcome.at(row)] ?? { kind: 'unanswered', text: '' }
  }

  #numberOf(outcome: ExchangeOutcome): number {
    const short = summarizeOutcome(outcome)
    return this.#outcomes.numberOf(`${short.kind} ${short.text}`, short)
  }
}

const NO_SERVER_REQUESTS: readonly ServerRequestSummary[] = []
