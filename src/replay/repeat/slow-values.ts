import { ExactNumber } from '../../json/exact-number.ts'
import type { ReplayReport } from '../report.ts'
import type { StepFinding } from '../steps/step.ts'

/** Longer than a second, so that a value that counts whole seconds changes. */
export const SLOW_VALUE_PAUSE = 1100

/**
 * Returns true if a value differs from the tape, is equal in all runs, and may be one that changes more slowly than the runs follow each
 * other: a number, or a text that differs only in numbers.
 */
export function mayHaveSlowValues([first, ...others]: readonly ReplayReport[]): boolean {
  if (first === undefined) return false
  for (let position = 0; position < first.steps.length; position++) {
    const slow = first.steps.changedAt(position)?.findings.filter(isNumeric) ?? []
    const isInAll = (one: StepFinding): boolean =>
      others.every(({ steps }) => steps.changedAt(position)?.findings.some((other) => isSame(one, other)))
    if (slow.some(isInAll)) return true
  }
  return false
}

function isNumeric({ difference }: StepFinding): boolean {
  if (difference?.kind !== 'changed') return false
  const { expected, actual } = difference
  if (typeof expected === 'string' && typeof actual === 'string')
    return withoutNumbers(expected) === withoutNumbers(actual)
  return isNumber(expected) && isNumber(actual)
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/\d[\d.,]*/g, '#')
}

function isSame(one: StepFinding, other: StepFinding): boolean {
  return one.path === other.path && JSON.stringify(one.actual) === JSON.stringify(other.actual)
}
