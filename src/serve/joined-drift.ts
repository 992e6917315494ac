import type { Drift } from './drift.ts'

/** The account of several connections that play the same part: a recorded request is left over if none of them asked for it. */
export function mergeSessionDrifts(first: Drift, ...others: readonly Drift[]): Drift {
  const all = [first, ...others]
  const leftOver = others.reduce((left, drift) => {
    const frames = new Set(drift.leftOver.map(({ frame }) => frame))
    return left.filter(({ frame }) => frames.has(frame))
  }, first.leftOver)
  return { ...sumCounts(all), leftOver }
}

/** The account of several servers. */
export function sumServerDrifts(drifts: readonly Drift[]): Drift {
  const leftOver = drifts.flatMap((drift) => drift.leftOver).toSorted((a, b) => a.frame - b.frame)
  return { ...sumCounts(drifts), leftOver }
}

// A note that many connections make is made once.
function sumCounts(drifts: readonly Drift[]): Omit<Drift, 'leftOver'> {
  const faults = drifts.flatMap((drift) => drift.faults ?? [])
  const wentLive = drifts.flatMap((drift) => drift.wentLive ?? [])
  return {
    answered: drifts.reduce((sum, { answered }) => sum + answered, 0),
    misses: drifts.flatMap(({ misses }) => misses),
    notes: [...new Set(drifts.flatMap(({ notes }) => notes))],
    ...(faults.length > 0 && { faults }),
    ...(wentLive.length > 0 && { wentLive }),
  }
}
