import { Histogram } from '../histogram.ts'

/** How a request of a virtual user ended: answered, or the class of its failure, such as `isError`, `error -32602` or `timeout`. */
export type CallOutcome = 'ok' | 'isError' | 'timeout' | 'lost' | 'unbound' | `error ${number}`

/** The measurements of one request, in milliseconds. */
export interface CallMeasurement {
  readonly outcome: CallOutcome
  /** From sending the request to its response. */
  readonly service: number
  /** From the moment at which a user on schedule would have sent the request, to its response. */
  readonly response: number
  /** How late the request was sent, because this program was busy. */
  readonly lag: number
  readonly firstByte?: number | undefined
  readonly firstProgress?: number | undefined
}

/** The measurements of a tool or method. They can be added up over threads and machines. */
export class CallStatistics {
  readonly service: Histogram = new Histogram()
  readonly response: Histogram = new Histogram()
  readonly lag: Histogram = new Histogram()
  readonly firstByte: Histogram = new Histogram()
  readonly firstProgress: Histogram = new Histogram()
  readonly outcomes: Map<CallOutcome, number> = new Map()

  add({ outcome, service, response, lag, firstByte, firstProgress }: CallMeasurement): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
    if (outcome === 'unbound') return // it was not sent
    this.service.add(service)
    this.response.add(response)
    this.lag.add(lag)
    if (firstByte !== undefined) this.firstByte.add(firstByte)
    if (firstProgress !== undefined) this.firstProgress.add(firstProgress)
  }

  merge(other: CallStatistics): void {
    for (const name of HISTOGRAMS) this[name].merge(other[name])
    for (const [outcome, count] of other.outcomes)
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + count)
  }

  get calls(): number {
    return [...this.outcomes.values()].reduce((sum, count) => sum + count, 0)
  }

  get failed(): number {
    return this.calls - (this.outcomes.get('ok') ?? 0)
  }

  encode(): EncodedStatistics {
    return {
      histograms: HISTOGRAMS.map((name) => this[name].encode()),
      outcomes: [...this.outcomes],
    }
  }

  static decode({ histograms, outcomes }: EncodedStatistics): CallStatistics {
    const statistics = new CallStatistics()
    for (const [place, name] of HISTOGRAMS.entries())
      statistics[name].merge(Histogram.decode(histograms[place] ?? ''))
    for (const [outcome, count] of outcomes) statistics.outcomes.set(outcome, count)
    return statistics
  }
}

const HISTOGRAMS = ['service', 'response', 'lag', 'firstByte', 'firstProgress'] as const

/** Statistics as plain data, for another thread or machine. */
export interface EncodedStatistics {
  readonly histograms: readonly string[]
  readonly outcomes: readonly (readonly [CallOutcome, number])[]
}

/** What happened in one second of a run, or in the whole of it. */
export class LoadTotals {
  readonly byLabel: Map<string, CallStatistics> = new Map()
  sessionsStarted = 0
  sessionsDone = 0
  /** Sessions that were cut off at the end of the run, or whose server could not be reached. */
  sessionsCut = 0
  sessionsFailed = 0

  add(label: string, measurement: CallMeasurement): void {
    this.of(label).add(measurement)
  }

  of(label: string): CallStatistics {
    const known = this.byLabel.get(label)
    if (known !== undefined) return known
    const statistics = new CallStatistics()
    this.byLabel.set(label, statistics)
    return statistics
  }

  merge(other: LoadTotals): void {
    for (const [label, statistics] of other.byLabel) this.of(label).merge(statistics)
    for (const name of SESSION_COUNTS) this[name] += other[name]
  }

  /** All tools and methods together. */
  all(): CallStatistics {
    const sum = new CallStatistics()
    for (const statistics of this.byLabel.values()) sum.merge(statistics)
    return sum
  }

  encode(): EncodedTotals {
    return {
      labels: [...this.byLabel].map(([label, statistics]) => [label, statistics.encode()]),
      sessions: SESSION_COUNTS.map((name) => this[name]),
    }
  }

  static decode({ labels, sessions }: EncodedTotals): LoadTotals {
    const totals = new LoadTotals()
    for (const [label, statistics] of labels) totals.byLabel.set(label, CallStatistics.decode(statistics))
    for (const [place, name] of SESSION_COUNTS.entries()) totals[name] = sessions[place] ?? 0
    return totals
  }
}

export const SESSION_COUNTS = ['sessionsStarted', 'sessionsDone', 'sessionsCut', 'sessionsFailed'] as const
export type SessionCount = (typeof SESSION_COUNTS)[number]

/** Totals as plain data, for another thread or machine. */
export interface EncodedTotals {
  readonly labels: readonly (readonly [string, EncodedStatistics])[]
  readonly sessions: readonly number[]
}
