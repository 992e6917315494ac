/** Milliseconds for people: `0.4 ms`, `48.5 ms`, `2.31 s`, `12 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms.toFixed(1)} ms`
  return ms < 120_000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms / 60_000)} min`
}
