import { ExactNumber } from '../../json/exact-number.ts'
import type { ReplayReport } from '../report.ts'
import type { StepFinding } from '../steps/step.ts'

/** Longer than a second, so that a value that counts whole seconds changes. */
export const SLOW_VALUE_PAUSE = 1100

/**
 * Returns true if a number differs from the tape, is equal in all runs, and may be one that changes more slowly than the runs follow each
 * other. Numbers in texts are included, also beside others that vary.
 */
export function mayHaveSlowValues([first, ...others]: readonly ReplayReport[]): boolean {
  if (first === undefined) return false
  for (let position = 0; position < first.steps.length; position++) {
    const findings = first.steps.changedAt(position)?.findings ?? []
    const isSlow = (one: StepFinding): boolean => {
      const same = others.map(({ steps }) =>
        steps.changedAt(position)?.findings.find(({ path }) => path === one.path),
      )
      return same.every((other) => other !== undefined) && hasSlowNumber([one, ...same])
    }
    if (findings.some(isSlow)) return true
  }
  return false
}

/** Returns true if the findings of all runs about one place have a number in common that is not the recorded one. */
function hasSlowNumber(runs: readonly StepFinding[]): boolean {
  const [expected] = runs.map(({ difference }) => numbersIn(difference?.expected))
  const lives = runs.map(({ difference }) => numbersIn(difference?.actual))
  if (expected === undefined || lives.some((live) => live?.around !== expected.around)) return false
  return expected.numbers.some((number, at) => {
    const values = new Set(lives.map((live) => live?.numbers[at]))
    return values.size === 1 && !values.has(number)
  })
}

interface TextNumbers {
  readonly numbers: readonly string[]
  /** The text without the numbers. */
  readonly around: string
}

/** Returns `undefined` if the value is neither a number nor a text. */
function numbersIn(value: unknown): TextNumbers | undefined {
  const text =
    typeof value === 'number' ? String(value) : value instanceof ExactNumber ? value.spelling : value
  if (typeof text !== 'string') return undefined
  return { numbers: text.match(NUMBERS) ?? [], around: text.replaceAll(NUMBERS, '#') }
}

const NUMBERS = /\d[\d.,]*/g
