import type { Judge, JudgedAnswer } from './judge.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'

/**
 * Checks that the answer is about as fast as recorded. `slower` is by how many milliseconds it may be slower; without it, only a
 * much slower answer is found, as a warning.
 */
export function timingJudge(slower: number | undefined): Judge {
  return { judge: (answer) => judgeTiming(answer, slower) }
}

function judgeTiming(
  { duration, recordedDuration }: JudgedAnswer,
  slower: number | undefined,
): readonly StepFinding[] {
  if (duration === undefined || recordedDuration === undefined) return NO_FINDINGS
  const bound = slower === undefined ? recordedDuration * 3 + GROSSLY_SLOWER_MS : recordedDuration + slower
  if (duration <= bound) return NO_FINDINGS
  const message = `took ${Math.round(duration)} ms, recorded ${Math.round(recordedDuration)} ms`
  return [
    {
      layer: 'timing',
      level: slower === undefined ? 'warn' : 'error',
      message,
      expected: inMicroseconds(recordedDuration),
      actual: inMicroseconds(duration),
    },
  ]
}

/** Rounds to microseconds. */
function inMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

const GROSSLY_SLOWER_MS = 1000
