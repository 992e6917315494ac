import type { Drift } from './drift.ts'

/** The account of several connections that play the same part: a recorded request is left over if none of them asked for it. */
export function joinDrifts(first: Drift, ...others: readonly Drift[]): Drift {
  const all = [first, ...others]
  const leftOver = others.reduce((left, drift) => {
    const frames = new Set(drift.leftOver.map(({ frame }) => frame))
    return left.filter(({ frame }) => frames.has(frame))
  }, first.leftOver)
  return { ...summed(all), leftOver }
}

/** The account of several servers. */
export function addDrifts(drifts: readonly Drift[]): Drift {
  const leftOver = drifts.flatMap((drift) => drift.leftOver).toSorted((a, b) => a.frame - b.frame)
  return { ...summed(drifts), leftOver }
}

// A note that many connections make is made once.
function summed(drifts: readonly Drift[]): Omit<Drift, 'leftOver'> {
  return {
    answered: drifts.reduce((sum, { answered }) => sum + answered, 0),
    misses: drifts.flatMap(({ misses }) => misses),
    notes: [...new Set(drifts.flatMap(({ notes }) => notes))],
  }
}
