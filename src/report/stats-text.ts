import { shortened } from '../wire/visible.ts'
import { durationText } from './duration.ts'
import type { CallStats } from './stats.ts'
import { alignRows, heading, type Cell } from './table.ts'

/** One line for each call, under one for all of them. */
export function statsAsText(stats: readonly CallStats[]): string {
  return alignRows([TITLES, ...stats.map(rowOf)])
    .map((line) => `${line}\n`)
    .join('')
}

const TITLES: readonly Cell[] = [
  heading('call'),
  ...['count', 'errors', 'unanswered', 'avg', 'p50', 'p95', 'p99', 'max'].map((title) =>
    heading(title, 'right'),
  ),
]

function rowOf({ call, count, errors, unanswered, errorRate, latency }: CallStats): readonly Cell[] {
  const failed = errors === 0 ? '0' : `${errors} (${(errorRate * 100).toFixed(1)} %)`
  return [
    { text: shortened(call, 48) },
    { text: String(count), align: 'right' },
    { text: failed, align: 'right', ...(errors > 0 && { style: 'red' }) },
    { text: String(unanswered), align: 'right' },
    ...[latency.avg, latency.p50, latency.p95, latency.p99, latency.max].map((ms): Cell => ({
      text: durationText(ms),
      align: 'right',
    })),
  ]
}
