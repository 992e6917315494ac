/** Milliseconds from `250`, `250ms`, `2s` or `1.5m`; undefined for anything else. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 && value <= MAX_DURATION_MS ? value : undefined
  const [, count, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(String(value)) ?? []
  const ms = Number(count) * (DURATION_UNITS.get(unit) ?? Number.NaN)
  return ms <= MAX_DURATION_MS ? ms : undefined
}

const DURATION_UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
])

// More than a timer can count.
const MAX_DURATION_MS = 2 ** 31 - 1
