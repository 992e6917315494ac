export interface LatencySummary {
  readonly answered: number
  readonly minMs: number
  readonly medianMs: number
  readonly p95Ms: number
  readonly maxMs: number
}

/** None when nothing was answered. Percentiles are values that were measured (nearest rank), not made up between two. */
export function summarizeLatency(latencies: readonly number[] | Float64Array): LatencySummary | undefined {
  const sorted = new Float64Array(latencies).toSorted()
  const rank = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  if (sorted.length === 0) return undefined
  return { answered: sorted.length, minMs: rank(0), medianMs: rank(0.5), p95Ms: rank(0.95), maxMs: rank(1) }
}
