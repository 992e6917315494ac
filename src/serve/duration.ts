/** Milliseconds from `250`, `250ms`, `2s` or `1.5m`; undefined for anything else. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 && value <= LONGEST ? value : undefined
  const [, count, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(String(value)) ?? []
  const ms = Number(count) * (UNITS.get(unit) ?? Number.NaN)
  return ms <= LONGEST ? ms : undefined
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
])

// More than a timer can count.
const LONGEST = 2 ** 31 - 1
