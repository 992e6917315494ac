import type { TurnStore } from '../tape/turns.ts'

/** A call counts as slower if it takes longer by both: the ratio, and the absolute difference. */
export interface LatencyLimits {
  /** Such as 1.5 for half as long again. */
  readonly ratio: number
  /** Milliseconds. */
  readonly absolute: number
}

/** The times of a tool or method on both tapes, in milliseconds. */
export interface LatencyChange {
  readonly call: string
  /** The number of paired calls that were answered on both tapes. */
  readonly calls: number
  readonly before: LatencyFigures
  readonly after: LatencyFigures
  readonly ratio: number
  readonly absolute: number
  readonly verdict: 'slower' | 'faster' | 'same'
}

export interface LatencyFigures {
  readonly p50: number
  readonly p95: number
  readonly max: number
}

/** Compares the times of paired calls, by tool or method. The slowest come first. */
export function compareLatency(
  before: TurnStore,
  after: TurnStore,
  afterOf: Int32Array,
  limits: LatencyLimits,
): readonly LatencyChange[] {
  const times = new Map<string, { before: number[]; after: number[] }>()
  for (const [index, other] of afterOf.entries()) {
    if (other < 0) continue
    const [then, now] = [durationOf(before, index), durationOf(after, other)]
    if (then === undefined || now === undefined) continue
    const { method, name } = before.summary(index)
    const call = name === undefined ? method : `${method} ${name}`
    const group = times.get(call) ?? { before: [], after: [] }
    times.set(call, group)
    group.before.push(then)
    group.after.push(now)
  }
  return Array.from(times, ([call, group]) => latencyChange(call, group, limits)).toSorted(
    (one, other) => other.absolute - one.absolute,
  )
}

function durationOf(turns: TurnStore, index: number): number | undefined {
  const { trigger, response } = turns.at(index) ?? {}
  return trigger === undefined || response === undefined ? undefined : Math.max(0, response.t - trigger.t)
}

function latencyChange(
  call: string,
  times: { readonly before: readonly number[]; readonly after: readonly number[] },
  limits: LatencyLimits,
): LatencyChange {
  const [before, after] = [figures(times.before), figures(times.after)]
  const ratio = round(after.p50 / Math.max(before.p50, 0.001))
  const absolute = round(after.p50 - before.p50)
  const isSlower = ratio >= limits.ratio && absolute >= limits.absolute
  const isFaster = ratio <= 1 / limits.ratio && -absolute >= limits.absolute
  const verdict = isSlower ? 'slower' : isFaster ? 'faster' : 'same'
  return { call, calls: times.before.length, before, after, ratio, absolute, verdict }
}

function figures(times: readonly number[]): LatencyFigures {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
  return { p50: at(0.5), p95: at(0.95), max: at(1) }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
