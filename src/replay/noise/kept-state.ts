import { canonicalJson } from '../../json/canonical.ts'
import { parseExactJson } from '../../json/exact-number.ts'
import { valuesAt, type LearnedPlace } from '../../diff/noise/learned.ts'
import { isOfItems } from '../../diff/noise/noise-places.ts'

/** A place that differs between runs because the server kept what earlier runs had written. */
interface KeptStatePlace {
  readonly place: LearnedPlace
  readonly why: string
}

/**
 * Finds the places that differ between runs because the tape has calls that write, and the server keeps what they wrote. Such a place
 * differs only in the first run, or grows in every run. A random value does neither.
 */
export function keptState(
  places: readonly LearnedPlace[],
  answers: readonly string[],
): readonly KeptStatePlace[] {
  if (answers.length < FEWEST_RUNS) return []
  const parsed = answers.map((answer) => parseExactJson(answer))
  return places.flatMap((place) => {
    const path = isOfItems(place) ? place.path.slice(0, -1) : place.path
    const runs = parsed.map((answer) => valuesAt(answer, path))
    const why = stateIn(runs)
    return why === undefined ? [] : [{ place, why }]
  })
}

/** With fewer runs, random values look like this by chance. */
const FEWEST_RUNS = 4

function stateIn(runs: readonly (readonly unknown[])[]): string | undefined {
  const [first = '', second, ...later] = runs.map((values) => canonicalJson(values))
  if (first !== second && later.every((one) => one === second)) return 'it differs only in the first run'
  if (isGrowing(runs.map((values) => listLength(values)))) return 'the list grows in every run'
  const texts = runs.map((values) => canonicalJson(values))
  const skeletons = new Set(texts.map((text) => text.replaceAll(NUMBERS, '#')))
  if (skeletons.size === 1 && haveEqualSteps(texts.map((text) => (text.match(NUMBERS) ?? []).map(Number))))
    return `it grows by the same amount in every run`
  const [only] = runs[0] ?? []
  if (typeof only === 'string' && growsByLines(runs.map(([value]) => String(value))))
    return 'the text grows in every run'
  return undefined
}

const NUMBERS = /\d{1,15}/g

/** The length of a list, or `undefined` if there is none. */
function listLength([value, ...others]: readonly unknown[]): number | undefined {
  return Array.isArray(value) && others.length === 0 ? value.length : undefined
}

function isGrowing(lengths: readonly (number | undefined)[]): boolean {
  return lengths.every(
    (length, run) => length !== undefined && (run === 0 || length > (lengths[run - 1] ?? Infinity)),
  )
}

/** Returns true if each number stays the same or grows by the same amount each time, and one of them grows. */
function haveEqualSteps(runs: readonly (readonly number[])[]): boolean {
  const [first = [], second = []] = runs
  const steps = first.map((number, at) => (second[at] ?? 0) - number)
  if (steps.every((step) => step === 0) || steps.some((step) => step < 0)) return false
  return runs.every(
    (numbers, run) =>
      run === 0 || numbers.every((number, at) => number - (runs[run - 1]?.[at] ?? 0) === steps[at]),
  )
}

function growsByLines(texts: readonly string[]): boolean {
  return texts.every((text, run) => {
    if (run === 0) return true
    const before = texts[run - 1] ?? ''
    return text.length > before.length && (text.startsWith(before) || text.endsWith(before))
  })
}
