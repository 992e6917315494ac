import { canonicalJson } from '../../json/canonical.ts'
import { isObject, type JsonObject } from '../../json/parse.ts'
import { EVERY_ITEM, formatPath, type PathPattern, type PathSegment } from '../../json/path.ts'
import { parseExactJson } from '../../json/exact-number.ts'
import { createDiffer, type Differ, type DiffOptions } from '../diff.ts'
import { isGeneratedName, jsonTypeOf, type Difference, type JsonType } from '../difference.ts'
import { parseText } from '../formats/index.ts'
import { choiceClass } from './classes/choice.ts'
import { inferClass } from './classes/index.ts'
import type { ValueClass } from './classes/value-class.ts'
import { noiseByDifference, type NoiseContext, type NoiseKind } from './noise-kind.ts'
import {
  isItemSegment,
  itemsOf,
  NoisePlaces,
  patternOf,
  patternText,
  type NoisePlace,
  type Presence,
} from './noise-places.ts'

/** A place at which responses of the same server differed, with the evidence. */
export interface LearnedPlace extends NoisePlace {
  /** The number of differences that were seen. */
  readonly seen: number
  /** The different values that were seen, in the order of the samples. */
  readonly samples: readonly unknown[]
}

/** A path at which responses of the same server differed, for reports. */
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

/** Learns from repeated requests which values of a server vary, and what they have in common. Names are never used for guessing. */
export class LearnedNoise {
  readonly #places = new Map<string, SeenPlace>()
  readonly #samples = new Map<string, unknown>()
  readonly #differ: Differ
  #recorded: { readonly value: unknown } | undefined
  /** Made again after each lesson. */
  #compiled: { readonly places: readonly LearnedPlace[]; readonly noise: NoisePlaces } | undefined

  constructor(options: DiffOptions = {}) {
    this.#differ = createDiffer({ order: 'reported', ...options })
  }

  /** Learns from responses of the same server to the same request. All are compared with the first. */
  learn(one: string, ...others: readonly string[]): void {
    for (const other of others) {
      this.#addSample(one)
      this.#addSample(other)
      const differences = this.#differ.texts(one, other)
      for (const difference of differences) this.#add(difference, one, other)
      this.#addReplacedItems(differences, one, other)
    }
    this.#compiled = undefined
  }

  /** Makes classes wide enough for the values of the recorded response, where it does not fit them. It adds no places. */
  includeRecorded(text: string): void {
    this.#recorded = { value: parseExactJson(text) ?? text }
    this.#compiled = undefined
  }

  paths(): readonly LearnedNoisePath[] {
    return this.places().map((place) => ({
      path: formatPath(place.path),
      kinds: [...place.kinds],
      types: [...new Set(place.samples.map(jsonTypeOf))],
      seen: place.seen,
      class: describePlace(place),
    }))
  }

  /** What was learned. If all items of a list vary alike, they are one place. */
  places(): readonly LearnedPlace[] {
    return this.#compile().places
  }

  explains(difference: Difference, context: Pick<NoiseContext, 'clock'> = {}): boolean {
    return this.#compile().noise.explains(difference, context)
  }

  /** Returns true if a difference is explained, but more samples may show that it is a change. */
  isDoubtful(difference: Difference): boolean {
    return this.#compile().noise.isDoubtful(difference)
  }

  /** Returns true if items that seem to come in another order have the same order when noisy values are left out. */
  hasSameOrder(difference: Difference): boolean {
    return this.#compile().noise.placeOfSameOrder(difference) !== undefined
  }

  #addSample(text: string): void {
    if (!this.#samples.has(text)) this.#samples.set(text, parseExactJson(text) ?? text)
  }

  #add(difference: Difference, one: string, other: string): void {
    const { kind, path } = difference
    const isItem = (kind === 'added' || kind === 'removed') && isItemSegment(path.at(-1))
    const place = this.#placeAt(isItem ? itemsOf(path.slice(0, -1)) : path)
    place.kinds.add(kind)
    place.seen++
    if (kind === 'order') return
    if (kind === 'renamed') place.names.push(difference.expected, difference.actual)
    else if (isItem) place.items.push('expected' in difference ? difference.expected : difference.actual)
    else {
      place.values.set(one, 'expected' in difference ? difference.expected : ABSENT)
      place.values.set(other, 'actual' in difference ? difference.actual : ABSENT)
      place.reference ??= one
    }
  }

  /** If an item of a list is also in the other sample, but at another index, then items come and go. */
  #addReplacedItems(differences: readonly Difference[], one: string, other: string): void {
    const lists = new Map<string, PathPattern>()
    for (const { kind, path, expected } of differences)
      if (kind === 'changed' && typeof path.at(-1) === 'number' && typeof expected !== 'object')
        lists.set(formatPath(path.slice(0, -1)), path.slice(0, -1))
    for (const list of lists.values()) {
      const [ours, theirs] = [one, other].map((sample) =>
        valuesAt(this.#samples.get(sample), list).flatMap(itemsIn),
      )
      if (ours === undefined || theirs === undefined || !hasMovedItem(ours, theirs)) continue
      const place = this.#placeAt(itemsOf(list))
      place.kinds.add('added').add('removed')
      place.seen++
      place.items.push(...itemsWithout(ours, theirs), ...itemsWithout(theirs, ours))
    }
  }

  #placeAt(path: PathPattern): SeenPlace {
    const key = formatPath(path)
    const known = this.#places.get(key) ?? new SeenPlace(path, this.#samples)
    this.#places.set(key, known)
    return known
  }

  #compile(): { readonly places: readonly LearnedPlace[]; readonly noise: NoisePlaces } {
    if (this.#compiled === undefined) {
      const patterns = this.#allPatterns()
      const single = [...this.#places.values()].filter((place) => !isInPattern(place, patterns))
      const places = [...single, ...patterns.values()].map(
        (place) => new CompiledPlace(place, this.#samples, this.#recorded),
      )
      this.#compiled = { places, noise: new NoisePlaces(places, { hasLiveSamples: true }) }
    }
    return this.#compiled
  }

  /** Places of which every item of the lists on their path varied. At least two items are needed. */
  #allPatterns(): ReadonlyMap<string, SeenPlace> {
    const groups = new Map<string, SeenPlace[]>()
    for (const place of this.#places.values()) {
      if (place.items.length > 0 || !place.path.some(isItemSegment)) continue
      const key = patternText(place.path)
      groups.set(key, [...(groups.get(key) ?? []), place])
    }
    const patterns = new Map<string, SeenPlace>()
    for (const [key, places] of groups) {
      const [first] = places
      if (first === undefined || places.length < 2) continue
      const sample = this.#samples.get(first.reference ?? '')
      if (valuesAt(sample, patternOf(first.path)).length <= places.length)
        patterns.set(key, SeenPlace.merge(patternOf(first.path), places, this.#samples))
    }
    return patterns
  }
}

const ABSENT: unique symbol = Symbol('absent')

// With fewer samples, it is by chance that each item was seen several times.
const FEWEST_FOR_CLOSED = 8
const FEWEST_TIMES = 3

/** On average, an item that varies must have been seen more than once. */
const FEWEST_RECURRING = 1.5
/** The order of a list is known only if two of its items are the same in at least this share of the samples. */
const FEWEST_IN_COMMON = 0.2
/** A rarer presence or absence is not chance. */
const LEAST_CHANCE = 0.0001

/** A single item is judged by the class of all items if this class says as much as its own. */
function isInPattern(place: SeenPlace, patterns: ReadonlyMap<string, SeenPlace>): boolean {
  const pattern = patterns.get(patternText(place.path))
  if (pattern === undefined || place.items.length > 0) return false
  const [own, all] = [place, pattern].map((one) => inferClass(one.presentValues()).written.is)
  return own === all && SIMPLE_CLASSES.has(own ?? '')
}

const SIMPLE_CLASSES: ReadonlySet<string> = new Set(['uuid', 'time', 'counter', 'number', 'id', 'choice'])

/** What was seen at one path. */
class SeenPlace {
  readonly path: PathPattern
  readonly kinds = new Set<Difference['kind']>()
  /** The value in each sample that differed, by the text of the sample. */
  readonly values = new Map<string, unknown>()
  /** Items of a list that are missing in another sample. */
  readonly items: unknown[] = []
  /** Names of members that are other ones in another sample. */
  readonly names: unknown[] = []
  seen = 0
  /** The sample that the others were compared with. */
  reference: string | undefined
  readonly #samples: ReadonlyMap<string, unknown>
  #merged: readonly SeenPlace[] = []

  constructor(path: PathPattern, samples: ReadonlyMap<string, unknown>) {
    this.path = path
    this.#samples = samples
  }

  static merge(
    path: PathPattern,
    places: readonly SeenPlace[],
    samples: ReadonlyMap<string, unknown>,
  ): SeenPlace {
    const merged = new SeenPlace(path, samples)
    merged.#merged = places
    for (const place of places) {
      for (const kind of place.kinds) merged.kinds.add(kind)
      merged.items.push(...place.items)
      merged.names.push(...place.names)
      merged.seen += place.seen
    }
    return merged
  }

  /** What is sometimes missing and has other values each time may also be another value than the recorded one. */
  allKinds(): ReadonlySet<Difference['kind']> {
    const isOptional = this.kinds.has('added') || this.kinds.has('removed')
    if (!isOptional || this.items.length > 0) return this.kinds
    const values = new Set(this.presentValues().map(canonicalJson))
    return values.size > 1 ? new Set([...this.kinds, 'changed'] as const) : this.kinds
  }

  /** The values of all samples that have one. A sample without a difference has the value of the reference, or one that differs inside of it. */
  presentValues(): readonly unknown[] {
    if (this.names.length > 0) return this.names
    if (this.#merged.length > 0) return this.#merged.flatMap((place) => place.presentValues())
    const usual = this.values.get(this.reference ?? '')
    const isWhole = typeof usual !== 'object' || usual === null
    const all = Array.from(this.#samples, ([sample, content]) => {
      if (this.values.has(sample)) return this.values.get(sample)
      const [own = usual] = isWhole ? [usual] : valuesAt(content, this.path)
      return own
    })
    return this.values.size === 0 ? this.items : all.filter((value) => value !== ABSENT)
  }
}

/** A place with its classes, which are inferred when they are needed. */
class CompiledPlace implements LearnedPlace {
  readonly path: PathPattern
  readonly kinds: ReadonlySet<Difference['kind']>
  readonly seen: number
  readonly #place: SeenPlace
  readonly #samples: ReadonlyMap<string, unknown>
  readonly #recorded: { readonly value: unknown } | undefined
  #classes: readonly ValueClass[] | undefined

  constructor(
    place: SeenPlace,
    samples: ReadonlyMap<string, unknown>,
    recorded: { readonly value: unknown } | undefined,
  ) {
    this.path = place.path
    this.kinds = place.allKinds()
    this.seen = place.seen
    this.#place = place
    this.#samples = samples
    this.#recorded = recorded
  }

  get samples(): readonly unknown[] {
    return [...new Map(this.#place.presentValues().map((value) => [canonicalJson(value), value])).values()]
  }

  get classes(): readonly ValueClass[] {
    this.#classes ??= this.#inferClasses()
    return this.#classes
  }

  #inferClasses(): readonly ValueClass[] {
    const isOfItems = this.#place.items.length > 0
    const values = this.#place.presentValues()
    const classes = isOfItems ? this.#itemClasses() : [inferClass(values)]
    const recorded = this.#recorded === undefined ? [] : valuesAt(this.#recorded.value, this.path)
    const others = recorded.filter(
      (value) => !classes.some((one) => one.accepts(value, { isRecorded: true })),
    )
    if (others.length === 0) return classes
    if (!isOfItems) return [inferClass([...others, ...values])]
    // Items that are in every sample do not vary, and those of the recorded list may be among them.
    const live = new Set(
      [...this.#samples.values()].flatMap((sample) => valuesAt(sample, this.path).map(canonicalJson)),
    )
    const unseen = others.filter((item) => !live.has(canonicalJson(item)))
    return unseen.length === 0 ? classes : this.#itemClasses(unseen)
  }

  get length(): number | undefined {
    if (this.#place.items.length === 0) return undefined
    const list = this.path.slice(0, -1)
    const all = [...this.#samples.values(), ...(this.#recorded === undefined ? [] : [this.#recorded.value])]
    const lengths = all.flatMap((sample) =>
      valuesAt(sample, list).flatMap((one) => (isGeneratedHolder(one) ? [] : itemsIn(one).length)),
    )
    return new Set(lengths).size === 1 ? lengths[0] : undefined
  }

  /** An item of the tape that no run has, or a new one that every run has, is not one of the items that come and go. */
  presenceOf(item: unknown, isRecorded: boolean): Presence {
    if (this.#place.items.length === 0) return 'likely'
    const { seenIn, lists } = this.#seenItems()
    const rate = this.#rateOfItems()
    // Items that do not come again, such as random ids, say nothing about others.
    if (rate * lists < FEWEST_RECURRING) return 'likely'
    if (this.#recurring().has(canonicalJson(item))) return 'likely'
    const times = seenIn.get(canonicalJson(item))?.times ?? 0
    if (times !== (isRecorded ? 0 : lists)) return 'likely'
    return (isRecorded ? 1 - rate : rate) ** lists < LEAST_CHANCE ? 'unlikely' : 'doubtful'
  }

  hasNewItems(): boolean {
    if (this.#place.items.length === 0) return false
    if (this.#rateOfItems() * this.#seenItems().lists < FEWEST_RECURRING) return true
    const [first, ...others] = this.#lists().map((items) => new Set(items.map(canonicalJson)))
    const isAlike = (other: ReadonlySet<string>): boolean =>
      [...other].filter((item) => first?.has(item)).length > 1
    return others.filter(isAlike).length < others.length * FEWEST_IN_COMMON
  }

  /** The share of samples that have an item that comes and goes, on average; 0 if there are no such items. */
  #rateOfItems(): number {
    const { seenIn, lists } = this.#seenItems()
    const varying = [...seenIn.values()].filter(({ times }) => times < lists)
    return varying.reduce((sum, { times }) => sum + times, 0) / Math.max(1, varying.length * lists)
  }

  /** How many samples have each item of the list. */
  #seenItems(): {
    readonly seenIn: ReadonlyMap<string, { readonly item: unknown; readonly times: number }>
    readonly lists: number
  } {
    const lists = this.#lists()
    const seenIn = new Map<string, { readonly item: unknown; times: number }>()
    for (const items of lists)
      for (const [key, item] of new Map(items.map((one) => [canonicalJson(one), one]))) {
        const known = seenIn.get(key)
        if (known === undefined) seenIn.set(key, { item, times: 1 })
        else known.times++
      }
    return { seenIn, lists: lists.length }
  }

  /** Items that are in the list several times, and not equally often in all samples. */
  #recurring(): ReadonlyMap<string, unknown> {
    const counts = this.#lists().map((items) => {
      const count = new Map<string, { readonly item: unknown; times: number }>()
      for (const item of items) {
        const key = canonicalJson(item)
        const known = count.get(key)
        if (known === undefined) count.set(key, { item, times: 1 })
        else known.times++
      }
      return count
    })
    const all = new Map(counts.flatMap((count) => [...count]).filter(([, { times }]) => times > 1))
    const varies = (key: string): boolean => new Set(counts.map((count) => count.get(key)?.times)).size > 1
    return new Map([...all].flatMap(([key, { item }]) => (varies(key) ? [[key, item] as const] : [])))
  }

  /** The items of the list in each sample. */
  #lists(): readonly (readonly unknown[])[] {
    const list = this.path.slice(0, -1)
    return [...this.#samples.values()].map((sample) => valuesAt(sample, list).flatMap(itemsIn))
  }

  /** The classes of items that come and go. If each item of the list was seen several times, no others are expected. */
  #itemClasses(unseen: readonly unknown[] = []): readonly ValueClass[] {
    const { seenIn, lists } = this.#seenItems()
    const isClosed = [...seenIn.values()].every(({ times }) => times >= FEWEST_TIMES)
    if (lists >= FEWEST_FOR_CLOSED && isClosed) {
      const varying = [...seenIn].filter(([, { times }]) => times < lists)
      return [choiceClass(new Set([...varying.map(([key]) => key), ...unseen.map(canonicalJson)]))]
    }
    const varying = [...this.#place.items, ...unseen, ...this.#recurring().values()]
    const clusters = new Map<string, unknown[]>(varying.map((item) => [clusterKey(item), []]))
    for (const item of [...unseen, ...Array.from(seenIn.values(), (seen) => seen.item)])
      clusters.get(clusterKey(item))?.push(item)
    const timesOf = (item: unknown): number => seenIn.get(canonicalJson(item))?.times ?? 0
    return [...clusters.values()].flatMap((items) =>
      itemsByShape(items.length === 0 ? this.#place.items : items, timesOf).map(inferClass),
    )
  }
}

function describePlace({ path, kinds, classes }: NoisePlace): string {
  if (kinds.has('order')) return 'order'
  const isPresence = kinds.has('added') || kinds.has('removed')
  const prefix = !isPresence ? '' : path.at(-1) === EVERY_ITEM ? 'subset: ' : 'present or not: '
  return `${prefix}${classes.map(({ text }) => text).join(' or ')}`
}

/** The values at a path that may lead into structured texts. */
export function valuesAt(value: unknown, path: PathPattern): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (values, segment) => values.flatMap((one) => childrenAt(one, segment)),
    [value],
  )
}

/** The items of a list, which may be in a structured text. */
function itemsIn(value: unknown): readonly unknown[] {
  const holder = typeof value === 'string' ? parseText(value)?.value : value
  return Array.isArray(holder) ? holder : isObject(holder) ? generatedMembers(holder) : []
}

/** Returns true for an object: the number of its members whose names look generated says nothing. */
function isGeneratedHolder(value: unknown): boolean {
  const holder = typeof value === 'string' ? parseText(value)?.value : value
  return !Array.isArray(holder)
}

/** The values of members whose names are other ones in each response. */
function generatedMembers(holder: JsonObject): readonly unknown[] {
  return Object.entries(holder).flatMap(([name, value]) => (isGeneratedName(name) ? [value] : []))
}

function childrenAt(value: unknown, segment: PathSegment): readonly unknown[] {
  const holder = typeof value === 'string' ? parseText(value)?.value : value
  if (Array.isArray(holder)) {
    if (segment === EVERY_ITEM) return holder
    return typeof segment === 'number' && segment < holder.length ? [holder[segment]] : []
  }
  if (!isObject(holder)) return []
  if (segment === EVERY_ITEM) return generatedMembers(holder)
  return typeof segment === 'string' && Object.hasOwn(holder, segment) ? [holder[segment]] : []
}

function hasMovedItem(ours: readonly unknown[], theirs: readonly unknown[]): boolean {
  const [one, other] = [ours.map(canonicalJson), theirs.map(canonicalJson)]
  const isInOther = new Set(other)
  return one.some((item, at) => other[at] !== item && isInOther.has(item))
}

function itemsWithout(items: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const known = new Set(others.map(canonicalJson))
  return items.filter((item) => !known.has(canonicalJson(item)))
}

/** Separates items by their words if the same few words come again and again, such as those of progress messages. Other words are a change then. */
function itemsByShape(
  items: readonly unknown[],
  timesOf: (item: unknown) => number,
): readonly (readonly unknown[])[] {
  const shapes = new Map<string, { readonly items: unknown[]; times: number }>()
  for (const item of items) {
    const shape = canonicalJson(item).replaceAll(/[\w.-]*\d[\w.-]*/g, '0')
    const known = shapes.get(shape) ?? { items: [], times: 0 }
    known.items.push(item)
    known.times += timesOf(item)
    shapes.set(shape, known)
  }
  const all = [...shapes.values()]
  const isClosed =
    all.every(({ times }) => times >= FEWEST_TIMES) &&
    all.reduce((sum, { times }) => sum + times, 0) >= FEWEST_FOR_CLOSED
  return isClosed ? all.map((one) => one.items) : [items]
}

/** Items with the same members and the same kind are compared with each other, for example all progress notifications. */
function clusterKey(item: unknown): string {
  if (!isObject(item)) return jsonTypeOf(item)
  const kinds = ['method', 'type', 'kind', 'role', 'level', 'event'].map((name) => item[name])
  return canonicalJson([Object.keys(item).toSorted(), kinds])
}
