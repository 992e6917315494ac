import { NOTHING_FOUND, type Finding } from './finding.ts'
import type { Judged } from './judged.ts'

export interface TimingTolerance {
  /** Milliseconds by which an answer may be slower than recorded. */
  readonly timing?: number
}

/** Whether the answer came about as fast as it had. What nobody set a bound for is only a warning, and only if it is gross. */
export function judgeTiming(
  { duration, recordedDuration }: Judged,
  { timing }: TimingTolerance,
): readonly Finding[] {
  if (duration === undefined || recordedDuration === undefined) return NOTHING_FOUND
  const bound = timing === undefined ? recordedDuration * 3 + GROSS : recordedDuration + timing
  if (duration <= bound) return NOTHING_FOUND
  const message = `took ${Math.round(duration)} ms, recorded ${Math.round(recordedDuration)} ms`
  return [
    {
      layer: 'timing',
      level: timing === undefined ? 'warn' : 'error',
      message,
      expected: inMicroseconds(recordedDuration),
      actual: inMicroseconds(duration),
    },
  ]
}

/** What the clocks can tell, without the rest of a division. */
function inMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

const GROSS = 1000
