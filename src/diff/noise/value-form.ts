import { readTime } from './classes/time.ts'
import { uuidKindOf } from './classes/uuid.ts'

/**
 * Returns the positions of the live values that have another form than the recorded one, such as a UUID in upper case or a time in milliseconds,
 * if the others have the recorded form and these have one form too. Returns nothing if the values have many forms or only one: random words,
 * and quantities in units that fit their size, have many.
 */
export function valuesOfOtherForm(recorded: unknown, lives: readonly unknown[]): ReadonlySet<number> {
  if (new Set([recorded, ...lives]).size < FEWEST_VALUES) return NONE
  const others = new Set(lives.flatMap((live, at) => (haveSameForm(recorded, live) ? [] : [at])))
  if (others.size === 0 || others.size === lives.length) return NONE
  const theirs = [...others].map((at) => lives[at])
  const ours = [recorded, ...lives.filter((_, at) => !others.has(at))]
  const [first] = theirs
  if (!theirs.every((live) => haveSameForm(first, live))) return NONE
  if (ours.some((own) => theirs.some((live) => haveSameForm(own, live)))) return NONE
  return isOfUnits([...ours, ...theirs]) ? NONE : others
}

const NONE: ReadonlySet<number> = new Set()

/** A form counts only if a place has at least this many values. */
const FEWEST_VALUES = 3

function haveSameForm(one: unknown, other: unknown): boolean {
  if (one === other) return true
  const [ours, theirs] = [readTime(one), readTime(other)]
  if (ours !== undefined && theirs !== undefined)
    return ours.form === theirs.form && !(Math.abs(ours.at - theirs.at) > NEAR)
  if (typeof one === 'number' && typeof other === 'number') return haveSameScale(one, other)
  return typeof one !== 'string' || typeof other !== 'string' || areTextsAlike(one, other)
}

/** Milliseconds. A time that follows the clock is near the same time in all runs. */
const NEAR = 10 * 60_000

/** Returns false for a number with decimals and an integer of a much larger scale: seconds and milliseconds. */
function haveSameScale(one: number, other: number): boolean {
  if (Number.isInteger(one) === Number.isInteger(other)) return true
  const [fraction, whole] = (Number.isInteger(one) ? [other, one] : [one, other]).map(Math.abs)
  return fraction === undefined || whole === undefined || whole < fraction * LEAST_SCALE
}

const LEAST_SCALE = 100

function areTextsAlike(one: string, other: string): boolean {
  if ([one, other].some(isLong)) return true
  const kinds = [uuidKindOf(one), uuidKindOf(other)]
  if (kinds.some((kind) => kind !== undefined)) return kinds[0] === kinds[1]
  if (ID.test(one) && ID.test(other)) return areIdsAlike(one, other)
  const [ours, theirs] = [one, other].map(partsOf)
  return (
    ours !== undefined &&
    ours.length === theirs?.length &&
    ours.every((part, at) => arePartsAlike(part, theirs[at] ?? ''))
  )
}

/** Longer texts are compared word by word. */
function isLong(text: string): boolean {
  return text.length > 120 || text.split(/\s+/).length > 4
}

/** Characters of random ids, in which also - and _ are random. */
const ID = /^[\w-]{6,}$/

function areIdsAlike(one: string, other: string): boolean {
  const prefixes = [one, other].map((id) => /^[a-z]{2,12}(?=[_-])/.exec(id)?.[0])
  if (prefixes[0] !== prefixes[1]) return false
  return areOfOneLength(one, other) && !areOfOtherCase(one, other)
}

/** Ids made from random numbers are often one or two characters shorter, and numbers as texts may be of any length. */
function areOfOneLength(one: string, other: string): boolean {
  const areNumbers = [one, other].every((id) => /^\d+$/.test(id))
  return areNumbers || Math.abs(one.length - other.length) < LEAST_DIFFERENCE
}

const LEAST_DIFFERENCE = 3

/** Words and what is between them. A number is one part, with its sign and its decimals. */
function partsOf(text: string): readonly string[] {
  return text.replaceAll(/(?<![\w.,-])[+-]?\d[\d.,]*(?![\w.,-])/g, '0').match(/[\w-]+|[^\w-]+/g) ?? []
}

/** Parts with digits, or with letters of both cases, are probably generated. Each other word has a form of its own. */
function arePartsAlike(one: string, other: string): boolean {
  if (one === other) return true
  if (![one, other].every((part) => /^[\w-]+$/.test(part))) return false
  if (ID.test(one) && ID.test(other) && [one, other].some(isGenerated)) return areIdsAlike(one, other)
  return [one, other].every((part) => /\d/.test(part))
}

function isGenerated(word: string): boolean {
  return /\d/.test(word) || (/[a-z]/.test(word) && /[A-Z]/.test(word.slice(1)))
}

function areOfOtherCase(one: string, other: string): boolean {
  const [isUpper, isLower] = [/\p{Lu}/u, /\p{Ll}/u].map((letters) =>
    [one, other].map((word) => letters.test(word)),
  )
  if (Math.min(one.length, other.length) < LEAST_CASED) return false
  return [0, 1].every((at) => isUpper?.[at] !== isLower?.[at]) && isUpper?.[0] !== isUpper?.[1]
}

/** Shorter ids may have no letters, or few, by chance. */
const LEAST_CASED = 8

/**
 * Returns true if all values are quantities of one dimension, and a larger unit always stands for a larger quantity: the server chooses the unit
 * by the size.
 */
function isOfUnits(values: readonly unknown[]): boolean {
  const read = values.map(readQuantity)
  const known = read.filter((one) => one !== undefined)
  if (known.length < read.length || new Set(known.map(({ dimension }) => dimension)).size > 1) return false
  const sorted = known.toSorted((a, b) => a.size - b.size)
  return sorted.every(({ unit }, at) => {
    const smaller = sorted[at - 1]?.unit ?? unit
    return unit === smaller || unit > smaller * LEAST_STEP
  })
}

/** From hours to days. Kilobytes and kibibytes are two ways to write the same quantity. */
const LEAST_STEP = 20

interface Quantity {
  readonly dimension: string
  /** The size of its largest unit. */
  readonly unit: number
  readonly size: number
}

/** Reads texts such as `1.5 KB` and `3m 12s`. */
function readQuantity(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' || !QUANTITY.test(value)) return undefined
  const parts = Array.from(value.matchAll(PART), ([, number = '', name = '']) => {
    const [dimension, unit] = UNITS.get(name) ?? UNITS.get(name.toLowerCase()) ?? []
    return { dimension, unit, size: Number(number.replaceAll(',', '')) * (unit ?? Number.NaN) }
  })
  const [first] = parts
  if (first?.dimension === undefined || first.unit === undefined) return undefined
  if (parts.some(({ dimension }) => dimension !== first.dimension)) return undefined
  return {
    dimension: first.dimension,
    unit: first.unit,
    size: parts.reduce((sum, { size }) => sum + size, 0),
  }
}

const PART = /(\d[\d.,]*)\s*([a-zµμ]+)/gi
const QUANTITY = /^\s*(?:\d[\d.,]*\s*[a-zµμ]+\s*){1,4}$/i

const UNITS: ReadonlyMap<string, readonly [dimension: string, size: number]> = new Map(
  (
    [
      ['time', 1e-9, 'ns nanoseconds'],
      ['time', 1e-6, 'us µs μs microseconds'],
      ['time', 1e-3, 'ms msec milliseconds millisecond'],
      ['time', 1, 's sec secs second seconds'],
      ['time', 60, 'm min mins minute minutes'],
      ['time', 3600, 'h hr hrs hour hours'],
      ['time', 86_400, 'd day days'],
      ['bytes', 1, 'b byte bytes'],
      ['bytes', 1e3, 'kb k'],
      ['bytes', 1024, 'kib'],
      ['bytes', 1e6, 'mb'],
      ['bytes', 1024 ** 2, 'mib'],
      ['bytes', 1e9, 'gb g'],
      ['bytes', 1024 ** 3, 'gib'],
      ['bytes', 1e12, 'tb t'],
    ] as const
  ).flatMap(([dimension, size, names]) => names.split(' ').map((name) => [name, [dimension, size]] as const)),
)
