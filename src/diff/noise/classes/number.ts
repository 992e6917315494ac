import { ExactNumber } from '../../../json/exact-number.ts'
import type { ClassKind, ValueClass } from './value-class.ts'

/** Integers that grew in each of many samples. */
export const counter: ClassKind = {
  name: 'counter',
  infer: (values) => {
    const read = values.map(readNumber)
    if (read.length < FEWEST_COUNTS || !read.every(isInteger)) return undefined
    const grows = read.every((one, at) => at === 0 || one.value > (read[at - 1]?.value ?? Infinity))
    const isText = typeof values[0] === 'string'
    if (!grows || values.some((value) => (typeof value === 'string') !== isText)) return undefined
    const seen = { from: read[0]?.value ?? 0, to: read.at(-1)?.value ?? 0, isText }
    return counterClass(seen, { from: seen.from, to: wideRange([seen.from, seen.to]).to })
  },
  // Since the profile was written, the counter may have gone on for months, or begun again on another machine.
  read: (written) => {
    const from = written.number('from')
    const seen = { from, to: written.number('to'), isText: written.flag('text') }
    return counterClass(seen, { from: Math.min(from, 0), to: Infinity })
  },
}

/** The numbers that were seen. */
interface SeenNumbers {
  readonly from: number
  readonly to: number
  /** The numbers are strings. */
  readonly isText: boolean
}

function counterClass(
  { from: first, to: last, isText }: SeenNumbers,
  range: { readonly from: number; readonly to: number },
): ValueClass {
  return {
    text: `counter from ${first}`,
    written: { is: 'counter', from: first, to: last, ...(isText && { text: true }) },
    accepts: (value, { isRecorded }) => {
      const one = (typeof value === 'string') === isText ? readNumber(value) : undefined
      if (one === undefined || !isInteger(one)) return false
      // The recorded counter may be that of a machine on which it had gone further, such as a process id that was given earlier.
      if (isRecorded) return one.value >= Math.min(first, 0)
      return one.value >= range.from && one.value <= range.to
    },
  }
}

// Fewer random numbers often grow by chance.
const FEWEST_COUNTS = 5

/** Numbers with the same sign, within a wide range around the samples. Numbers in texts are included. */
export const number: ClassKind = {
  name: 'number',
  infer: (values) => {
    const read = values.map(readNumber)
    const isText = typeof values[0] === 'string'
    if (!read.every((one) => one !== undefined)) return undefined
    if (values.some((value) => (typeof value === 'string') !== isText)) return undefined
    const numbers = read.map(({ value }) => value)
    const seen = { from: Math.min(...numbers), to: Math.max(...numbers), isText }
    return numberClass(seen, read.every(isInteger))
  },
  read: (written) =>
    numberClass(
      { from: written.number('from'), to: written.number('to'), isText: written.flag('text') },
      written.flag('integer'),
    ),
}

function numberClass(seen: SeenNumbers, mustBeInteger: boolean): ValueClass {
  const { isText } = seen
  const { from, to } = wideRange([seen.from, seen.to])
  return {
    text: `${mustBeInteger ? 'integer' : 'number'} from ${seen.from} to ${seen.to}`,
    written: {
      is: 'number',
      from: seen.from,
      to: seen.to,
      ...(mustBeInteger && { integer: true }),
      ...(isText && { text: true }),
    },
    accepts: (value) => {
      const one = (typeof value === 'string') === isText ? readNumber(value) : undefined
      if (one === undefined || (mustBeInteger && !isInteger(one))) return false
      return one.value >= from && one.value <= to
    },
  }
}

interface ReadNumber {
  readonly value: number
  readonly hasDecimals: boolean
}

const NUMBER = /^[+-]?\d{1,40}(?:,\d{3})*(?:\.\d{1,40})?$/

function readNumber(value: unknown): ReadNumber | undefined {
  if (typeof value === 'number') return { value, hasDecimals: !Number.isInteger(value) }
  const text = value instanceof ExactNumber ? value.spelling : value
  if (typeof text !== 'string') return undefined
  if (value instanceof ExactNumber) return { value: Number(text), hasDecimals: /[.eE]/.test(text) }
  if (!NUMBER.test(text)) return undefined
  return { value: Number(text.replaceAll(',', '')), hasDecimals: text.includes('.') }
}

function isInteger(one: ReadNumber | undefined): one is ReadNumber {
  return one !== undefined && !one.hasDecimals
}

/** Durations differ widely between machines, and the samples are few. */
function wideRange(numbers: readonly number[]): { readonly from: number; readonly to: number } {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  const reach = 20 * (most - least) + 100
  if (least >= 0) {
    // Of numbers that differ much, smaller ones are as likely as larger ones. Another unit is still a change.
    const part = most > 2 * least ? 100 : 20
    return { from: Math.min(least, Math.max(0, least / part - 1)), to: Math.max(most * 20, most + reach) }
  }
  const largest = 20 * Math.max(Math.abs(least), Math.abs(most)) + reach
  return { from: -largest, to: most <= 0 ? 0 : largest }
}
