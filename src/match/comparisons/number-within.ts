import { invalidMatchRule, type Comparison, type ComparisonKind } from './comparison.ts'

export const numberKind: ComparisonKind = {
  name: 'number',
  usage: 'number within <amount or percent>',
  about:
    'a number that differs from the recorded one by at most this much: `number within 5`, `number within 10%`',
  parse: parseWithin,
}

const WITHIN = /^within (?<amount>\d+(?:\.\d+)?)(?<percent>%?)$/

function parseWithin(rest: string): Comparison {
  const { amount, percent } = WITHIN.exec(rest)?.groups ?? {}
  if (amount === undefined)
    throw invalidMatchRule(
      `invalid argument ${JSON.stringify(rest)} for "number"`,
      'write number within 5, or number within 10%',
    )
  const farthest = (recorded: number): number =>
    percent === '%' ? (Math.abs(recorded) * Number(amount)) / 100 : Number(amount)
  return {
    text: `number ${rest}`,
    distance: (recorded, got) =>
      typeof recorded === 'number' && typeof got === 'number'
        ? relativeDistance(Math.abs(recorded - got), farthest(recorded))
        : undefined,
  }
}

// Ignores rounding errors of binary fractions: 0.3 - 0.2 is within 0.1.
const ROUNDING = 1e-9

function relativeDistance(difference: number, farthest: number): number | undefined {
  if (difference === 0) return 0
  return difference <= farthest * (1 + ROUNDING) ? Math.min(1, difference / farthest) : undefined
}
