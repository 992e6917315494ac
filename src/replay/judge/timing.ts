import { NO_FINDINGS, type StepFinding, type JudgedAnswer } from './judged-answer.ts'

interface TimingTolerance {
  /** Milliseconds by which an answer may be slower than recorded. */
  readonly timing?: number
}

/** Whether the answer came about as fast as it had. What nobody set a bound for is only a warning, and only if it is gross. */
export function judgeTiming(
  { duration, recordedDuration }: JudgedAnswer,
  { timing }: TimingTolerance,
): readonly StepFinding[] {
  if (duration === undefined || recordedDuration === undefined) return NO_FINDINGS
  const bound = timing === undefined ? recordedDuration * 3 + GROSSLY_SLOWER_MS : recordedDuration + timing
  if (duration <= bound) return NO_FINDINGS
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

const GROSSLY_SLOWER_MS = 1000
