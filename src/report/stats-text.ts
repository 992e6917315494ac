import { truncateText } from '../text.ts'
import { formatDuration } from './duration.ts'
import type { CallStats } from './stats.ts'
import { alignRows, columnTitle, type TableCell } from './table.ts'

/** One line for each call, under one for all of them. */
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
