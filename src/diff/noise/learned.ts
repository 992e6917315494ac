import { createDiffer, type DiffOptions } from '../diff.ts'
import { jsonTypeOf, type Difference, type JsonType } from '../difference.ts'
import { noiseByDifference, type NoiseKind } from './noise-kind.ts'
import { longestCommonSubsequence } from '../align.ts'
import { EVERY_ITEM, formatPath, type PathPattern } from '../../json/path.ts'

/** A path at which responses of the same server differed. */
interface LearnedNoisePath {
  /** With `[*]` in place of indexes. */
  readonly path: string
  /** The kinds of differences that were seen. */
  readonly kinds: readonly Difference['kind'][]
  /** The types of values that were seen. */
  readonly types: readonly JsonType[]
  /** The number of differences that were seen. */
  readonly seen: number
}

/** Differences at paths where responses of the same server differed. */
export const learnedDifferences: NoiseKind = noiseByDifference(
  'learned',
  (difference, { learned }) => learned !== undefined && learned.explains(difference),
)

/**
 * Learns from repeated requests which values of a server vary. Names are never used for guessing. A difference is explained
 * only if its path, its kind and the types of its values were seen before. In a text, only the words that varied may differ.
 */
export class LearnedNoise {
  readonly #places = new Map<string, ObservedNoise>()
  readonly #diff: (expected: string, actual: string) => readonly Difference[]

  constructor(options: DiffOptions = {}) {
    this.#diff = createDiffer(options).texts
  }

  /** Learns from two responses of the same server to the same request. */
  learn(one: string, other: string): void {
    for (const difference of this.#diff(one, other)) this.#add(difference)
  }

  paths(): readonly LearnedNoisePath[] {
    return [...this.#places].map(([path, { kinds, types, seen }]) => ({
      path,
      kinds: [...kinds],
      types: [...types],
      seen,
    }))
  }

  #add(difference: Difference): void {
    const key = generalizePath(difference.path)
    const place = this.#places.get(key) ?? {
      kinds: new Set(),
      types: new Set(),
      seen: 0,
      template: undefined,
    }
    place.kinds.add(difference.kind)
    for (const value of sidesOf(difference)) place.types.add(jsonTypeOf(value))
    place.seen++
    place.template = sidesOf(difference).filter(isString).reduce(widenOrCreate, place.template)
    this.#places.set(key, place)
  }

  explains(difference: Difference): boolean {
    const place = this.#places.get(generalizePath(difference.path))
    if (place === undefined || !place.kinds.has(difference.kind)) return false
    return sidesOf(difference).every(
      (value) =>
        place.types.has(jsonTypeOf(value)) &&
        (typeof value !== 'string' || place.template === undefined || fitsTemplate(place.template, value)),
    )
  }
}

interface ObservedNoise {
  readonly kinds: Set<Difference['kind']>
  readonly types: Set<JsonType>
  seen: number
  template: TextTemplate | undefined
}

function generalizePath(path: PathPattern): string {
  return formatPath(path.map((step) => (typeof step === 'number' ? EVERY_ITEM : step)))
}

function sidesOf(difference: Difference): readonly unknown[] {
  return [
    ...('expected' in difference ? [difference.expected] : []),
    ...('actual' in difference ? [difference.actual] : []),
  ]
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function widenOrCreate(template: TextTemplate | undefined, text: string): TextTemplate {
  return template === undefined ? textTemplate(text) : widenTemplate(template, text)
}

/** The words that several texts have in common. `null` stands for words that vary. */
type TextTemplate = readonly (string | null)[]

function textTemplate(text: string): TextTemplate {
  return text.match(/\s+|\S+/g) ?? []
}

/** Widens a template so that another text fits as well. */
function widenTemplate(template: TextTemplate, text: string): TextTemplate {
  const words = textTemplate(text).map(String)
  const known = template.map((word) => word ?? VARYING)
  const wide: (string | null)[] = []
  let [row, column] = [0, 0]
  for (const common of [
    ...longestCommonSubsequence(known, words),
    { expected: known.length, actual: words.length },
  ]) {
    if (common.expected > row || common.actual > column) appendVarying(wide)
    const word = known[common.expected]
    if (word !== undefined) wide.push(word)
    row = common.expected + 1
    column = common.actual + 1
  }
  return wide
}

/** Returns true if a text has all words of the template in order, and other words only where the template varies. */
function fitsTemplate(template: TextTemplate, text: string): boolean {
  let at = 0
  let mayPass = false
  for (const word of template) {
    if (word === null) {
      mayPass = true
      continue
    }
    const found = mayPass ? text.indexOf(word, at) : at
    if (found < 0 || !text.startsWith(word, found)) return false
    at = found + word.length
    mayPass = false
  }
  return mayPass || at === text.length
}

// Never equal to a word of a text, because a word consists of either spaces or other characters.
const VARYING = ' \0'

function appendVarying(template: (string | null)[]): void {
  if (template.at(-1) !== null) template.push(null)
}
