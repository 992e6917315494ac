import { Numbered } from '../replay/numbered.ts'
import { wholeColumn, wideColumn } from '../store/columns.ts'
import { shortOutcome, type Asked, type ExchangeLine, type ShortOutcome } from './exchange-line.ts'
import type { Outcome } from './outcome.ts'

/** The exchanges of a tape in the order of their requests, as a few numbers each: of a tape of any size these fit into memory. */
export class ExchangeRows implements Iterable<ExchangeLine> {
  readonly #at = wideColumn()
  /** Not a number while it is not answered. */
  readonly #latency = wideColumn()
  readonly #link = wholeColumn()
  readonly #title = wholeColumn()
  readonly #outcome = wholeColumn()
  readonly #notified = wholeColumn()
  readonly #asked = new Map<number, readonly Asked[]>()
  readonly #links = new Numbered<string>()
  readonly #titles = new Numbered<string>()
  readonly #outcomes = new Numbered<ShortOutcome>()

  get size(): number {
    return this.#at.length
  }

  /** The row of a request, which nobody has answered yet. */
  begin({ at, link, title }: Pick<ExchangeLine, 'at' | 'link' | 'title'>): number {
    this.#at.push(at)
    this.#latency.push(Number.NaN)
    this.#link.push(this.#links.numberOf(link, link))
    this.#title.push(this.#titles.numberOf(title, title))
    this.#outcome.push(this.#numberOf({ kind: 'unanswered' }))
    this.#notified.push(0)
    return this.size - 1
  }

  answered(row: number, latencyMs: number, outcome: Outcome): void {
    this.#latency.set(row, latencyMs)
    this.#outcome.set(row, this.#numberOf(outcome))
  }

  /** What is known of a request without an answer. */
  ended(row: number, outcome: Outcome): void {
    this.#outcome.set(row, this.#numberOf(outcome))
  }

  notified(row: number): void {
    this.#notified.set(row, this.#notified.at(row) + 1)
  }

  /** A question, which is written down again when it is answered. */
  asked(row: number, asked: Asked, place: number = this.#askedIn(row).length): number {
    const list = [...this.#askedIn(row)]
    list[place] = asked
    this.#asked.set(row, list)
    return place
  }

  outcomeOf(row: number): Outcome['kind'] {
    return this.#short(row).kind
  }

  /** Milliseconds, of those that were answered. */
  latencies(): Float64Array {
    const latencies = this.#latency.taken()
    let count = 0
    for (const latency of latencies) if (!Number.isNaN(latency)) latencies[count++] = latency
    return latencies.subarray(0, count)
  }

  *[Symbol.iterator](): Generator<ExchangeLine> {
    for (let row = 0; row < this.size; row++) yield this.#lineOf(row)
  }

  #lineOf(row: number): ExchangeLine {
    const latencyMs = this.#latency.at(row)
    return {
      sequence: row + 1,
      at: this.#at.at(row),
      link: this.#links.list[this.#link.at(row)] ?? '',
      title: this.#titles.list[this.#title.at(row)] ?? '',
      latencyMs: Number.isNaN(latencyMs) ? undefined : latencyMs,
      outcome: this.#short(row),
      notified: this.#notified.at(row),
      asked: this.#askedIn(row),
    }
  }

  #askedIn(row: number): readonly Asked[] {
    return this.#asked.get(row) ?? NONE
  }

  #short(row: number): ShortOutcome {
    return this.#outcomes.list[this.#outcome.at(row)] ?? { kind: 'unanswered', text: '' }
  }

  #numberOf(outcome: Outcome): number {
    const short = shortOutcome(outcome)
    return this.#outcomes.numberOf(`${short.kind} ${short.text}`, short)
  }
}

const NONE: readonly Asked[] = []
