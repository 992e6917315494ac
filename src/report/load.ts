import type { LoadInterval, LoadResult } from '../load/load.ts'
import type { CallStatistics } from '../load/measurements.ts'
import type { ObjectiveResult } from '../load/objectives.ts'
import type { WorkersSummary } from '../load/workers/coordinator.ts'
import type { Histogram } from '../histogram.ts'
import { truncateText } from '../text.ts'
import type { PageChart, PageTable } from './page/page-data.ts'
import { alignRows, columnTitle, formatDuration, type TableCell } from './table.ts'

/** A load run with everything that its reports show. */
export interface LoadReport {
  readonly tapes: readonly string[]
  readonly target: string
  readonly model: 'open' | 'closed'
  /** As the user asked for it, such as `20 users` or `50 sessions/s`. */
  readonly level: string
  readonly threads: number
  readonly started: string
  /** Only for a run on several machines. */
  readonly workers?: WorkersSummary
  readonly result: LoadResult
  /** One for each second. */
  readonly points?: readonly LoadPoint[]
  readonly objectives: readonly ObjectiveResult[]
}

/** What a chart shows of one second of a run. */
export interface LoadPoint extends Pick<LoadInterval, 'at' | 'level' | 'open'> {
  /** Milliseconds that the interval lasted. */
  readonly length: number
  readonly calls: number
  readonly failed: number
  readonly p50: number
  readonly p99: number
}

export function loadPoint({ at, level, open, totals }: LoadInterval, length: number): LoadPoint {
  const { calls, failed, response } = totals.all()
  const [p50, p99] = [response.percentile(0.5), response.percentile(0.99)]
  return { at, level, open, length, calls, failed, p50, p99 }
}

/** Rate, response times and users over time, and how often each response time occurred. */
export function loadCharts({ points = [], result, model }: LoadReport): readonly PageChart[] {
  const places = points.map(({ at }) => at / 1000)
  const rate = (count: (point: LoadPoint) => number): readonly number[] =>
    points.map((point) => (point.length > 0 ? (count(point) * 1000) / point.length : 0))
  const time = (read: (point: LoadPoint) => number): readonly (number | null)[] =>
    points.map((point) => (point.calls === 0 ? null : read(point)))
  const overTime = { x: 'seconds', places, kind: 'lines' } as const
  const charts: readonly PageChart[] = [
    {
      ...overTime,
      title: 'Calls a second',
      unit: '/s',
      series: [
        { label: 'calls', tone: 'accent', values: rate(({ calls }) => calls) },
        { label: 'failed', tone: 'bad', values: rate(({ failed }) => failed) },
      ],
    },
    {
      ...overTime,
      title: 'Response time',
      unit: 'ms',
      series: [
        { label: 'p50', tone: 'accent', values: time(({ p50 }) => p50) },
        { label: 'p99', tone: 'warn', values: time(({ p99 }) => p99) },
      ],
    },
    {
      ...overTime,
      title: 'Sessions',
      unit: '',
      series: [
        { label: 'open', tone: 'accent', values: points.map(({ open }) => open) },
        {
          label: model === 'open' ? 'started a second, as asked' : 'users, as asked',
          tone: 'plain',
          values: points.map(({ level }) => level),
        },
      ],
    },
  ]
  const { response } = result.totals.all()
  const bars = chartBuckets(response)
  const histogram: PageChart = {
    title: 'Calls by response time',
    x: 'milliseconds',
    places: bars.map(({ upTo }) => upTo),
    unit: '',
    kind: 'bars',
    series: [{ label: 'calls', tone: 'accent', values: bars.map(({ count }) => count) }],
  }
  return [...(points.length > 1 ? charts : []), ...(bars.length > 0 ? [histogram] : [])]
}

const BARS_PER_DOUBLING = 4

/** A histogram in steps that can be seen, without gaps. */
function chartBuckets(histogram: Histogram): readonly { readonly upTo: number; readonly count: number }[] {
  const counts = new Map<number, number>()
  for (const { upTo, count } of histogram.buckets()) {
    const step = Math.ceil(Math.log2(Math.max(upTo, 0.01)) * BARS_PER_DOUBLING)
    counts.set(step, (counts.get(step) ?? 0) + count)
  }
  if (counts.size === 0) return []
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())]
  return Array.from({ length: last - first + 1 }, (_, at) => ({
    upTo: 2 ** ((first + at) / BARS_PER_DOUBLING),
    count: counts.get(first + at) ?? 0,
  }))
}

/** The table of the report for people, for a page. */
export function loadTable({ result: { totals } }: LoadReport): PageTable {
  const rows = [...totals.byLabel].toSorted(([, a], [, b]) => b.calls - a.calls)
  return {
    title: 'Calls',
    columns: cellTexts(TITLES),
    rows: [['all', totals.all()] as const, ...rows].map((row) => cellTexts(statisticsRow(row))),
  }
}

function cellTexts(cells: readonly TableCell[]): readonly string[] {
  return cells.map(({ text }) => text)
}

/** A table of tools and methods, then what the figures mean. */
export function loadAsText(report: LoadReport): string {
  const { result, objectives } = report
  const { totals } = result
  const rows = [...totals.byLabel].toSorted(([, a], [, b]) => b.calls - a.calls)
  const all: readonly [string, CallStatistics] = ['all', totals.all()]
  const lines = [
    ...alignRows([TITLES, ...(rows.length > 1 ? [all, ...rows] : rows).map(statisticsRow)]),
    '',
    sessionsLine(report),
    ...outcomeLines(rows),
    ...firstLines(totals.all()),
    EXPECTED_FROM[result.expectedFrom],
    ...generatorLines(report),
    ...workerLines(report),
    ...[...result.heldBack].map(
      ([tool, calls]) =>
        `${calls} ${calls === 1 ? 'call' : 'calls'} of ${tool} not sent because it may write. To send: --allow ${tool}`,
    ),
    ...result.failures.map((why) => `a session could not be opened: ${why}`),
    ...objectives.map(objectiveLine),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

const TITLES: readonly TableCell[] = [
  columnTitle('call'),
  ...['calls', 'failed', 'service p50', 'p99', 'response p50', 'p95', 'p99', 'p99.9', 'max'].map((title) =>
    columnTitle(title, 'right'),
  ),
]

function statisticsRow([label, statistics]: readonly [string, CallStatistics]): readonly TableCell[] {
  const { service, response, calls, failed } = statistics
  const times = [
    service.percentile(0.5),
    service.percentile(0.99),
    ...[0.5, 0.95, 0.99, 0.999].map((share) => response.percentile(share)),
    response.max,
  ]
  return [
    { text: truncateText(label, 32) },
    { text: String(calls), align: 'right' },
    { text: String(failed), align: 'right', ...(failed > 0 && { style: 'red' as const }) },
    ...times.map((ms): TableCell => ({ text: formatDuration(ms), align: 'right' })),
  ]
}

function sessionsLine({ result, model, level }: LoadReport): string {
  const { totals, duration, wasStopped } = result
  const seconds = duration / 1000
  const { sessionsStarted, sessionsDone, sessionsCut, sessionsFailed } = totals
  const rate = (count: number): string => `${(count / seconds).toFixed(1)}/s`
  const parts = [
    `${sessionsDone} of ${sessionsStarted} sessions done (${rate(sessionsDone)})`,
    `${totals.all().calls} calls (${rate(totals.all().calls)})`,
    ...(sessionsCut > 0 ? [`${sessionsCut} sessions cut off at the end`] : []),
    ...(sessionsFailed > 0 ? [`${sessionsFailed} sessions could not be opened`] : []),
  ]
  const stopped = wasStopped ? ', stopped early' : ''
  return `${model} model, ${level}, ${formatDuration(duration)}${stopped}: ${parts.join(', ')}`
}

/** Failures by class. */
function outcomeLines(rows: readonly (readonly [string, CallStatistics])[]): readonly string[] {
  return rows.flatMap(([label, { outcomes }]) => {
    const failures = [...outcomes].filter(([outcome]) => outcome !== 'ok')
    return failures.length === 0
      ? []
      : [`failed ${label}: ${failures.map(([outcome, count]) => `${outcome} ×${count}`).join(', ')}`]
  })
}

/** Times to the first byte and the first progress, where there were any. */
function firstLines({ firstByte, firstProgress }: CallStatistics): readonly string[] {
  return [
    ...percentileLine('the first byte', firstByte),
    ...percentileLine('the first progress', firstProgress),
  ]
}

function percentileLine(name: string, histogram: Histogram): readonly string[] {
  if (histogram.count === 0) return []
  const [middle, high] = [histogram.percentile(0.5), histogram.percentile(0.99)]
  return [`time to ${name}: p50 ${formatDuration(middle)}, p99 ${formatDuration(high)}`]
}

const EXPECTED_FROM = {
  calibration:
    'response times count from when a user on schedule would have sent the call (expected times: calibration)',
  recording:
    'response times count from when a user on schedule would have sent the call (expected times: recording)',
}

const BUSY_LIMIT = 0.9
const LAG_LIMIT_MS = 5

function generatorLines({ result }: LoadReport): readonly string[] {
  const { generator, totals } = result
  const lag = totals.all().lag.percentile(0.99)
  const line = `generator: busy ${Math.round(generator.busy * 100)} %, sent late by p99 ${formatDuration(lag)}`
  return [
    line,
    ...(isGeneratorLimit(result) ? [limitWarning(generator.busy)] : []),
    ...(generator.waited > 0
      ? [
          `${generator.waited} sessions had to wait for a free process: raise --max-processes, or lower the load`,
        ]
      : []),
  ]
}

function limitWarning(busy: number): string {
  return busy > HARDLY_BUSY
    ? 'WARNING: the generator was the limit, not the server: use fewer users, or more --threads'
    : 'WARNING: calls were sent late, although the generator was not busy: other programs, or the server itself, use this machine. Run the load from another machine'
}

const HARDLY_BUSY = 0.5

function workerLines({ workers: summary }: LoadReport): readonly string[] {
  if (summary === undefined) return []
  const { workers, takeovers, missing } = summary
  return [
    `workers: ${workers.length} (${workers.join(', ')})`,
    ...takeovers.map(
      ({ part, from, to, at, gap }) =>
        `worker ${from} was lost at ${formatDuration(at)}: ${to} went on with part ${part + 1} after ${formatDuration(gap)}`,
    ),
    ...missing.map((what) => `INCOMPLETE: the figures do not contain ${what}`),
  ]
}

/** Returns true if Reelay was too busy to send requests on time. */
export function isGeneratorLimit({ generator, totals }: LoadResult): boolean {
  return generator.busy > BUSY_LIMIT || totals.all().lag.percentile(0.99) > LAG_LIMIT_MS
}

function objectiveLine(result: ObjectiveResult): string {
  return `${result.isMet ? 'met   ' : 'MISSED'} ${objectiveText(result)}`
}

export function objectiveText({ objective, actual, unit }: ObjectiveResult): string {
  const shown = unit === 'ms' ? formatDuration(actual) : `${actual.toFixed(unit === '%' ? 3 : 1)} ${unit}`
  return `${objective}: ${shown}`
}

export function loadAsJson({ result, ...facts }: LoadReport): string {
  const { totals, expected, heldBack, ...run } = result
  const document = {
    ...facts,
    ...run,
    isGeneratorLimit: isGeneratorLimit(result),
    expected: Object.fromEntries(expected),
    heldBack: Object.fromEntries(heldBack),
    sessions: {
      started: totals.sessionsStarted,
      done: totals.sessionsDone,
      cut: totals.sessionsCut,
      failed: totals.sessionsFailed,
    },
    all: statisticsAsJson(totals.all()),
    calls: Object.fromEntries([...totals.byLabel].map(([label, each]) => [label, statisticsAsJson(each)])),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

function statisticsAsJson(statistics: CallStatistics): object {
  const { calls, failed, outcomes, service, response, lag, firstByte, firstProgress } = statistics
  const histograms = { service, response, lag, firstByte, firstProgress }
  return {
    calls,
    failed,
    outcomes: Object.fromEntries(outcomes),
    ...Object.fromEntries(
      Object.entries(histograms).flatMap(([name, histogram]) =>
        histogram.count === 0 ? [] : [[name, histogramAsJson(histogram)]],
      ),
    ),
  }
}

function histogramAsJson(histogram: Histogram): object {
  const { count, mean, max } = histogram
  const shares = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, 'p99.9': 0.999 }
  const percentiles = Object.entries(shares).map(([name, share]) => [name, histogram.percentile(share)])
  return { count, mean, ...Object.fromEntries(percentiles), max }
}

const CSV_TITLES =
  'seconds,level,open,sessions_started,sessions_done,calls,failed,service_p50_ms,service_p99_ms,response_p50_ms,response_p99_ms,response_max_ms,lag_p99_ms'

/** One line for each second. */
export class LoadIntervalTable {
  readonly #rows: string[] = []

  add({ at, level, open, totals }: LoadInterval): void {
    const all = totals.all()
    const { service, response, lag } = all
    const numbers = [
      at / 1000,
      level,
      open,
      totals.sessionsStarted,
      totals.sessionsDone,
      all.calls,
      all.failed,
      service.percentile(0.5),
      service.percentile(0.99),
      response.percentile(0.5),
      response.percentile(0.99),
      response.max,
      lag.percentile(0.99),
    ]
    this.#rows.push(numbers.map((number) => Number(number.toFixed(3))).join(','))
  }

  asCsv(): string {
    return [CSV_TITLES, ...this.#rows, ''].join('\n')
  }
}
