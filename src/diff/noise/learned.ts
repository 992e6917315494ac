import { canonicalJson } from '../../json/canonical.ts'
import { isObject } from '../../json/parse.ts'
import { EVERY_ITEM, formatPath, omitPaths, type PathPattern, type PathSegment } from '../../json/path.ts'
import { parseExactJson } from '../../json/exact-number.ts'
import { createDiffer, type Differ, type DiffOptions } from '../diff.ts'
import { jsonTypeOf, type Difference, type JsonType } from '../difference.ts'
import { parseText } from '../formats/index.ts'
import { inferClass } from './classes/index.ts'
import type { ValueClass } from './classes/value-class.ts'
import { noiseByDifference, type NoiseContext, type NoiseKind } from './noise-kind.ts'

/** A path at which responses of the same server differed. */
interface LearnedNoisePath {
  /** With `[*]` in place of an index if every item of the list varied. */
  readonly path: string
  /** The kinds of differences that were seen. */
  readonly kinds: readonly Difference['kind'][]
  /** The types of values that were seen. */
  readonly types: readonly JsonType[]
  /** The number of differences that were seen. */
  readonly seen: number
  /** What the values have in common, such as `uuid`. */
  readonly class: string
}

/** Differences at paths where responses of the same server differed. */
export const learnedDifferences: NoiseKind = noiseByDifference(
  'learned',
  (difference, context) => context.learned?.explains(difference, context) === true,
)

/**
 * Learns from repeated requests which values of a server vary, and what they have in common. Names are never used for guessing. A difference is
 * explained only if the same kind of difference was seen at its path, and both values fit the class of the samples.
 */
export class LearnedNoise {
  readonly #places = new Map<string, NoisyPlace>()
  readonly #samples = new Map<string, unknown>()
  readonly #differ: Differ
  /** The places by pattern, if all items vary alike; made again after each lesson. */
  #patterns: ReadonlyMap<string, NoisyPlace> | undefined

  constructor(options: DiffOptions = {}) {
    this.#differ = createDiffer({ order: 'reported', ...options })
  }

  /** Learns from responses of the same server to the same request. All are compared with the first. */
  learn(one: string, ...others: readonly string[]): void {
    for (const other of others) {
      this.#addSample(one)
      this.#addSample(other)
      for (const difference of this.#differ.texts(one, other)) this.#add(difference, one, other)
    }
    this.#patterns = undefined
  }

  paths(): readonly LearnedNoisePath[] {
    const patterns = this.#allPatterns()
    const single = [...this.#places.values()].filter(({ path }) => !patterns.has(patternText(path)))
    return [...single, ...patterns.values()].map((place) => ({
      path: formatPath(place.path),
      kinds: [...place.kinds],
      types: [...new Set(place.presentValues().map(jsonTypeOf))],
      seen: place.seen,
      class: this.#describe(place),
    }))
  }

  explains(difference: Difference, { clock }: Pick<NoiseContext, 'clock'> = {}): boolean {
    const { kind, path } = difference
    if (kind === 'order') return this.#explainsOrder(difference)
    if (kind === 'format') return difference.format?.isDistinctive !== true && this.#hasSeen(path, ['format'])
    const fits = (value: ValueClass): boolean =>
      (!('expected' in difference) || value.accepts(difference.expected, { isRecorded: true, clock })) &&
      (!('actual' in difference) || value.accepts(difference.actual, { isRecorded: false, clock }))
    const isOfItem = typeof path.at(-1) === 'number'
    const key = kind === 'changed' || kind === 'type' || !isOfItem ? path : itemsOf(path.slice(0, -1))
    const kinds = SIMILAR_KINDS[kind]
    const known = this.#find(key).filter((place) => kinds.some((one) => place.kinds.has(one)))
    if (known.some((place) => this.#classesOf(place).some(fits))) return true
    return kind === 'changed' && this.#classesAround(path).some(fits)
  }

  #addSample(text: string): void {
    if (!this.#samples.has(text)) this.#samples.set(text, parseExactJson(text) ?? text)
  }

  #add(difference: Difference, one: string, other: string): void {
    const { kind, path } = difference
    const isItem = (kind === 'added' || kind === 'removed') && typeof path.at(-1) === 'number'
    const place = this.#placeAt(isItem ? itemsOf(path.slice(0, -1)) : path)
    place.kinds.add(kind)
    place.seen++
    if (kind === 'order') return
    if (isItem) place.items.push('expected' in difference ? difference.expected : difference.actual)
    else {
      place.values.set(one, 'expected' in difference ? difference.expected : ABSENT)
      place.values.set(other, 'actual' in difference ? difference.actual : ABSENT)
      place.reference ??= one
    }
  }

  #placeAt(path: PathPattern): NoisyPlace {
    const key = formatPath(path)
    const known = this.#places.get(key) ?? new NoisyPlace(path, this.#samples)
    this.#places.set(key, known)
    return known
  }

  #hasSeen(path: PathPattern, kinds: readonly Difference['kind'][]): boolean {
    return this.#find(path).some((place) => kinds.some((kind) => place.kinds.has(kind)))
  }

  /** The places that a difference at a path may be explained by: the path itself, and items of the same list if all of them vary or have no order. */
  #find(path: PathPattern): readonly NoisyPlace[] {
    const own = this.#places.get(formatPath(path))
    if (own !== undefined) return [own]
    const pattern = patternText(path)
    const all = this.#allPatterns().get(pattern)
    if (all !== undefined) return [all]
    if (!path.some((segment, at) => typeof segment === 'number' && this.#hasFreeItems(path.slice(0, at))))
      return []
    return [...this.#places.values()].filter((place) => patternText(place.path) === pattern)
  }

  /** Returns true if the items of a list come and go or change their order, so that an index does not identify an item. */
  #hasFreeItems(list: PathPattern): boolean {
    return (
      this.#places.get(formatPath(list))?.kinds.has('order') === true ||
      this.#places.has(formatPath(itemsOf(list)))
    )
  }

  /** Places of which every item of the lists on their path varied. At least two items are needed. */
  #allPatterns(): ReadonlyMap<string, NoisyPlace> {
    if (this.#patterns !== undefined) return this.#patterns
    const groups = new Map<string, NoisyPlace[]>()
    for (const place of this.#places.values()) {
      if (!place.path.some((segment) => typeof segment === 'number')) continue
      const key = patternText(place.path)
      groups.set(key, [...(groups.get(key) ?? []), place])
    }
    const patterns = new Map<string, NoisyPlace>()
    for (const [key, places] of groups) {
      const [first] = places
      if (first === undefined || places.length < 2) continue
      const sample = this.#samples.get(first.reference ?? '')
      if (valuesAt(sample, patternOf(first.path)).length <= places.length)
        patterns.set(key, NoisyPlace.merge(patternOf(first.path), places, this.#samples))
    }
    this.#patterns = patterns
    return patterns
  }

  #classesOf(place: NoisyPlace): readonly ValueClass[] {
    return place.items.length > 0 ? this.#itemClasses(place) : [place.valueClass()]
  }

  /** The classes of items that come and go. If each item of the list was seen in two samples, no others are expected. */
  #itemClasses(place: NoisyPlace): readonly ValueClass[] {
    const lists = [...this.#samples.values()].map((sample) =>
      valuesAt(sample, place.path.slice(0, -1)).flat(),
    )
    const seenIn = new Map<string, number>()
    for (const items of lists)
      for (const item of new Set(items.map(canonicalJson))) seenIn.set(item, (seenIn.get(item) ?? 0) + 1)
    if (lists.length >= FEWEST_FOR_CLOSED && [...seenIn.values()].every((samples) => samples > 1))
      return [{ text: `some of ${seenIn.size} items`, accepts: (value) => seenIn.has(canonicalJson(value)) }]
    const clusters = new Map<string, unknown[]>()
    for (const item of place.items) {
      const key = clusterKey(item)
      clusters.set(key, [...(clusters.get(key) ?? []), item])
    }
    return Array.from(clusters.values(), (items) => inferClass(items))
  }

  /** The classes of a member of values that come and go or change their type as a whole. */
  #classesAround(path: PathPattern): readonly ValueClass[] {
    for (let end = path.length - 1; end > 0; end--) {
      const around = path.slice(0, end)
      const ofItem = typeof around.at(-1) === 'number' ? this.#find(itemsOf(around.slice(0, -1))) : []
      const classes = [...this.#find(around), ...ofItem].flatMap((place) => this.#classesOf(place))
      const inside = classes.flatMap((one) => classInside(one, path.slice(end)) ?? [])
      if (inside.length > 0) return inside
    }
    return []
  }

  /** Explained if samples disagree about the order, or if the items have the same order when noisy values are left out. */
  #explainsOrder({ path, expected, actual }: Difference): boolean {
    if (this.#hasSeen(path, ['order'])) return true
    const inItems = [...this.#places.values()].flatMap((place) => {
      const isInside = patternText(place.path.slice(0, path.length)) === patternText(path)
      return isInside && place.path.length > path.length && place.items.length === 0
        ? [place.path.slice(path.length + 1)]
        : []
    })
    if (inItems.length === 0 || !Array.isArray(expected) || !Array.isArray(actual)) return false
    if (inItems.some(({ length }) => length === 0)) return true
    const [ours, theirs] = [expected, actual].map((items) =>
      items.map((item: unknown) => canonicalJson(omitPaths(item, inItems))),
    )
    const isCommon = new Set(ours?.filter((item) => theirs?.includes(item)))
    const [one, other] = [ours, theirs].map((items) => items?.filter((item) => isCommon.has(item)).join('\n'))
    return one === other
  }

  #describe(place: NoisyPlace): string {
    if (place.kinds.has('order')) return 'order'
    const classes = this.#classesOf(place).map(({ text }) => text)
    const isPresence = place.kinds.has('added') || place.kinds.has('removed')
    const prefix = place.items.length > 0 ? 'subset: ' : isPresence ? 'present or not: ' : ''
    return `${prefix}${classes.join(' or ')}`
  }
}

const ABSENT: unique symbol = Symbol('absent')

// With fewer samples, it is by chance that each item was seen twice.
const FEWEST_FOR_CLOSED = 4

/** The kinds of differences that mean the same noise: what is sometimes missing is sometimes new. */
const SIMILAR_KINDS: Readonly<
  Record<Exclude<Difference['kind'], 'order' | 'format'>, readonly Difference['kind'][]>
> = {
  added: ['added', 'removed'],
  removed: ['added', 'removed'],
  changed: ['changed', 'type'],
  type: ['type'],
}

/** What was seen at one path. */
class NoisyPlace {
  readonly path: PathPattern
  readonly kinds = new Set<Difference['kind']>()
  /** The value in each sample that differed, by the text of the sample. */
  readonly values = new Map<string, unknown>()
  /** Items of a list that are missing in another sample. */
  readonly items: unknown[] = []
  seen = 0
  /** The sample that the others were compared with. */
  reference: string | undefined
  readonly #samples: ReadonlyMap<string, unknown>
  #class: { readonly samples: number; readonly value: ValueClass } | undefined
  #merged: readonly NoisyPlace[] = []

  constructor(path: PathPattern, samples: ReadonlyMap<string, unknown>) {
    this.path = path
    this.#samples = samples
  }

  static merge(
    path: PathPattern,
    places: readonly NoisyPlace[],
    samples: ReadonlyMap<string, unknown>,
  ): NoisyPlace {
    const merged = new NoisyPlace(path, samples)
    merged.#merged = places
    for (const place of places) {
      for (const kind of place.kinds) merged.kinds.add(kind)
      merged.items.push(...place.items)
      merged.seen += place.seen
    }
    return merged
  }

  /** The values of all samples that have one. A sample without a difference has the value of the reference. */
  presentValues(): readonly unknown[] {
    if (this.#merged.length > 0) return this.#merged.flatMap((place) => place.presentValues())
    const usual = this.values.get(this.reference ?? '')
    const all = Array.from(this.#samples.keys(), (sample) =>
      this.values.has(sample) ? this.values.get(sample) : usual,
    )
    return this.values.size === 0 ? this.items : all.filter((value) => value !== ABSENT)
  }

  valueClass(): ValueClass {
    const samples = this.#samples.size
    if (this.#class?.samples !== samples) this.#class = { samples, value: inferClass(this.presentValues()) }
    return this.#class.value
  }
}

function itemsOf(list: PathPattern): PathPattern {
  return [...list, EVERY_ITEM]
}

function patternOf(path: PathPattern): PathPattern {
  return path.map((segment) => (typeof segment === 'number' ? EVERY_ITEM : segment))
}

function patternText(path: PathPattern): string {
  return formatPath(patternOf(path))
}

/** The values at a path that may lead into structured texts. */
function valuesAt(value: unknown, path: PathPattern): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (values, segment) => values.flatMap((one) => childrenAt(one, segment)),
    [value],
  )
}

function childrenAt(value: unknown, segment: PathSegment): readonly unknown[] {
  const holder = typeof value === 'string' ? parseText(value)?.value : value
  if (Array.isArray(holder)) {
    if (segment === EVERY_ITEM) return holder
    return typeof segment === 'number' && segment < holder.length ? [holder[segment]] : []
  }
  return isObject(holder) && typeof segment === 'string' && Object.hasOwn(holder, segment)
    ? [holder[segment]]
    : []
}

/** Items with the same members and the same kind are compared with each other, for example all progress notifications. */
function clusterKey(item: unknown): string {
  if (!isObject(item)) return jsonTypeOf(item)
  const kinds = ['method', 'type', 'kind', 'role', 'level', 'event'].map((name) => item[name])
  return canonicalJson([Object.keys(item).toSorted(), kinds])
}

function classInside(value: ValueClass, path: PathPattern): ValueClass | undefined {
  return path.reduce<ValueClass | undefined>(
    (inside, segment) => (segment === EVERY_ITEM ? undefined : inside?.child?.(segment)),
    value,
  )
}
