/**
 * What the page shows, as it is written into its first template. Rows are columns, because there may be hundreds of thousands. This file is
 * shared with the page, so it imports nothing.
 */
export interface PageData {
  readonly version: 1
  readonly generator: string
  readonly command: string
  readonly subject: string
  readonly verdict: 'pass' | 'fail' | 'incomplete' | 'none'
  readonly summary: string
  readonly started: string | undefined
  readonly notes: readonly string[]
  readonly reproduce: string
  /** What the two sides of a comparison are called; without it the page shows one side. */
  readonly sides: readonly [before: string, after: string] | undefined
  /** The texts that rows refer to by their index. */
  readonly texts: readonly string[]
  readonly rows: PageRows
  /** Notifications and requests of the server, on the timeline. */
  readonly marks: PageMarks
  /** Findings by the index of their row. */
  readonly findings: Readonly<Record<number, readonly PageFinding[]>>
  readonly charts: readonly PageChart[]
  readonly tables: readonly PageTable[]
  /** Rows in one template of messages; 0 if there are no messages. */
  readonly chunkRows: number
}

/** Series over the same places, such as seconds of a run. */
export interface PageChart {
  readonly title: string
  /** What the x axis shows: seconds from the start, or milliseconds on a logarithmic scale. */
  readonly x: 'seconds' | 'milliseconds'
  readonly places: readonly number[]
  readonly unit: '/s' | 'ms' | ''
  readonly kind: 'lines' | 'bars'
  readonly series: readonly PageSeries[]
}

interface PageSeries {
  readonly label: string
  readonly tone: 'plain' | 'good' | 'warn' | 'bad' | 'accent'
  /** `null` where there is no value. */
  readonly values: readonly (number | null)[]
}

/** Texts; the first column names the row. */
export interface PageTable {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

interface PageRows {
  readonly number: readonly number[]
  /** Milliseconds from the start; -1 if the row has no time. */
  readonly at: readonly number[]
  /** Milliseconds; -1 if there was no response. */
  readonly duration: readonly number[]
  readonly method: readonly number[]
  readonly target: readonly number[]
  /** Server and connection. */
  readonly link: readonly number[]
  readonly status: readonly number[]
  /** The outcome in words. */
  readonly outcome: readonly number[]
  /** A command that shows the row. */
  readonly reproduce: readonly number[]
}

interface PageMarks {
  readonly row: readonly number[]
  readonly at: readonly number[]
  /** 0: notification, 1: request of the server. */
  readonly kind: readonly number[]
}

export interface PageFinding {
  readonly rule: string
  readonly title: string
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly path?: string
  readonly before?: string
  readonly after?: string
}

/** The messages of one row. */
export type RowMessages = readonly PageMessage[]

export interface PageMessage {
  /** Such as `request`, `response` or `notification`. */
  readonly label: string
  readonly dir: 'c2s' | 's2c'
  /** Milliseconds from the start. */
  readonly at?: number
  /** The side of a comparison. */
  readonly side?: 0 | 1
  readonly text: string
}
