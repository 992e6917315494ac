import { canonicalJson } from '../../json/canonical.ts'
import { ExactNumber } from '../../json/exact-number.ts'
import { isObject } from '../../json/parse.ts'
import { EVERY_ITEM, formatPath, type PathPattern, type PathSegment } from '../../json/path.ts'
import { isGeneratedName, type Difference } from '../difference.ts'
import { ANY_CLASS } from './classes/index.ts'
import type { ClassContext, ValueClass } from './classes/value-class.ts'
import type { NoiseContext } from './noise-kind.ts'

/** A place at which responses of the same server differ, learned or read from a noise profile. */
export interface NoisePlace {
  /** With `[*]` in place of an index if every item of the list varies. Items that come and go are `list[*]`. */
  readonly path: PathPattern
  /** The kinds of differences that are noise here. */
  readonly kinds: ReadonlySet<Difference['kind']>
  /** A value is noise if it fits one of them. Another order needs none. */
  readonly classes: readonly ValueClass[]
  /** Only for items that come and go: how well an item fits to how often the others were seen. */
  presenceOf?(item: unknown, isRecorded: boolean): Presence
  /** Only for items that come and go: the number of items, if it was the same in all samples. */
  readonly length?: number | undefined
  /** Only for items that come and go: true if they are other ones each time, so that their order says nothing. */
  hasNewItems?(): boolean
}

/** `unlikely`: an item is in all samples or in none of them, which is not chance. `doubtful`: more samples can tell. */
export type Presence = 'likely' | 'doubtful' | 'unlikely'

/**
 * The noise in the responses to one request. A difference is explained only if the same kind of difference is noise at its path, and both
 * values fit a class of the place.
 */
export class NoisePlaces {
  readonly #places: readonly NoisePlace[]
  readonly #byPath = new Map<string, NoisePlace[]>()
  readonly #hasLiveSamples: boolean

  /** `hasLiveSamples`: the places were learned from the live session. */
  constructor(
    places: readonly NoisePlace[],
    { hasLiveSamples = false }: { readonly hasLiveSamples?: boolean } = {},
  ) {
    this.#places = places
    this.#hasLiveSamples = hasLiveSamples
    for (const place of places) {
      const key = formatPath(place.path)
      this.#byPath.set(key, [...(this.#byPath.get(key) ?? []), place])
    }
  }

  explains(difference: Difference, context: Pick<NoiseContext, 'clock'> = {}): boolean {
    return this.placeOf(difference, context) !== undefined
  }

  /** Returns the place whose noise explains a difference. */
  placeOf(difference: Difference, { clock }: Pick<NoiseContext, 'clock'> = {}): NoisePlace | undefined {
    const { kind, path } = difference
    const accepted = this.#places.find((place) => isAnything(place) && covers(place.path, path))
    if (accepted !== undefined) return accepted
    if (kind === 'order') return this.#placeOfOrder(difference)
    if (kind === 'format')
      return difference.format?.isDistinctive === true ? undefined : this.#placeWith(path, ['format'])
    const { timed } = difference
    const fitsSide = (value: ValueClass, side: 'expected' | 'actual'): boolean => {
      const context = { isRecorded: side === 'expected', clock, hasLiveSamples: this.#hasLiveSamples }
      if (!(side in difference) || value.accepts(difference[side], context)) return true
      return timed !== undefined && value.accepts(timed[side], context)
    }
    const fits = (value: ValueClass): boolean => fitsSide(value, 'expected') && fitsSide(value, 'actual')
    const isOfItem = isItemSegment(path.at(-1))
    if (isOfItem && this.#presenceOf(difference) === 'unlikely') return undefined
    const isItem = isOfItem && (kind === 'added' || kind === 'removed')
    const key = isItem ? itemsOf(path.slice(0, -1)) : path
    const known = this.#find(key).filter(
      (place) => SIMILAR_KINDS[kind].some((one) => place.kinds.has(one)) && hasUsualLength(place, difference),
    )
    const fitting = known.find(({ classes }) => classes.some(fits))
    if (fitting !== undefined || (kind !== 'changed' && kind !== 'type')) return fitting
    const replaced = isOfItem ? this.#placeOfReplacedItem(path, fitsSide) : undefined
    return replaced ?? this.#placeAround(path, fits)
  }

  /** Returns true if a difference is explained by items that come and go, but more samples may show that an item is lost or new. */
  isDoubtful(difference: Difference): boolean {
    return isItemSegment(difference.path.at(-1)) && this.#presenceOf(difference) === 'doubtful'
  }

  /** An item that was replaced by another one has to be likely to be missing, and the other one to be there. */
  #presenceOf(difference: Difference): Presence {
    const places = this.#byPath.get(formatPath(itemsOf(difference.path.slice(0, -1)))) ?? []
    const all = places.flatMap((place) => [
      'expected' in difference ? place.presenceOf?.(difference.expected, true) : undefined,
      'actual' in difference ? place.presenceOf?.(difference.actual, false) : undefined,
    ])
    return all.find((one) => one === 'unlikely') ?? all.find((one) => one === 'doubtful') ?? 'likely'
  }

  /** The place of items that come and go, if one of them was replaced by another one, which may be of another kind. */
  #placeOfReplacedItem(
    path: PathPattern,
    fitsSide: (value: ValueClass, side: 'expected' | 'actual') => boolean,
  ): NoisePlace | undefined {
    const places = this.#byPath.get(formatPath(itemsOf(path.slice(0, -1)))) ?? []
    const isEither = ({ classes }: NoisePlace): boolean =>
      (['expected', 'actual'] as const).every((side) => classes.some((one) => fitsSide(one, side)))
    return places.find((place) => isOfItems(place) && isEither(place))
  }

  #placeWith(path: PathPattern, kinds: readonly Difference['kind'][]): NoisePlace | undefined {
    return this.#find(path).find((place) => kinds.some((kind) => place.kinds.has(kind)))
  }

  /** The places that a difference at a path may be explained by: the path itself, and items of the same list if all of them vary or have no order. */
  #find(path: PathPattern): readonly NoisePlace[] {
    const own = this.#byPath.get(formatPath(path))
    if (own !== undefined) return own
    const pattern = patternText(path)
    const all = this.#byPath.get(pattern)
    if (all !== undefined) return all
    const isFree = (segment: PathSegment, at: number): boolean =>
      isGeneratedName(segment) || (typeof segment === 'number' && this.#hasFreeItems(path.slice(0, at)))
    if (!path.some(isFree)) return []
    return this.#places.filter((place) => patternText(place.path) === pattern)
  }

  /** Returns true if the items of a list come and go or change their order, so that an index does not identify an item. */
  #hasFreeItems(list: PathPattern): boolean {
    const hasOrder = this.#byPath.get(formatPath(list))?.some(({ kinds }) => kinds.has('order'))
    return hasOrder === true || this.#byPath.get(formatPath(itemsOf(list)))?.some(isOfItems) === true
  }

  /** The place of values that come and go or change their type as a whole, if a member of them fits. */
  #placeAround(path: PathPattern, fits: (value: ValueClass) => boolean): NoisePlace | undefined {
    for (let end = path.length - 1; end > 0; end--) {
      const around = path.slice(0, end)
      const ofItem = isItemSegment(around.at(-1)) ? this.#find(itemsOf(around.slice(0, -1))) : []
      const inside = [...this.#find(around), ...ofItem].flatMap((place) =>
        place.classes.flatMap((one) => ({ place, value: classInside(one, path.slice(end)) })),
      )
      const known = inside.filter(({ value }) => value !== undefined)
      if (known.length > 0) return known.find(({ value }) => value !== undefined && fits(value))?.place
    }
    return undefined
  }

  /** Explained if samples disagree about the order, or if the items have the same order when noisy values are left out. */
  #placeOfOrder(difference: Difference): NoisePlace | undefined {
    return this.#placeWith(difference.path, ['order']) ?? this.placeOfSameOrder(difference)
  }

  /** Returns a place whose noise makes items seem to come in another order. */
  placeOfSameOrder({ path, expected, actual }: Difference): NoisePlace | undefined {
    const itemPath = patternText(itemsOf(path))
    const ofItems = this.#places.find(
      (place) => patternText(place.path) === itemPath && place.hasNewItems?.(),
    )
    if (ofItems !== undefined) return ofItems
    const inside = this.#places.filter(
      (place) =>
        place.path.length > path.length &&
        !(isOfItems(place) && place.path.length === path.length + 1) &&
        patternText(place.path.slice(0, path.length)) === patternText(path),
    )
    const [first] = inside
    if (first === undefined || !Array.isArray(expected) || !Array.isArray(actual)) return undefined
    const inItems = inside.map(({ path: own, classes }) => ({ path: own.slice(path.length + 1), classes }))
    if (inItems.some((one) => one.path.length === 0)) return first
    const [ours, theirs] = [expected, actual].map((items, side) =>
      items.map((item: unknown) => canonicalJson(withoutNoise(item, inItems, { isRecorded: side === 0 }))),
    )
    const isCommon = new Set(ours?.filter((item) => theirs?.includes(item)))
    const [one, other] = [ours, theirs].map((items) => items?.filter((item) => isCommon.has(item)).join('\n'))
    return one === other ? first : undefined
  }
}

/** The kinds of differences that mean the same noise: what is sometimes missing is sometimes new. */
const SIMILAR_KINDS: Readonly<
  Record<Exclude<Difference['kind'], 'order' | 'format'>, readonly Difference['kind'][]>
> = {
  added: ['added', 'removed'],
  removed: ['added', 'removed'],
  changed: ['changed', 'type'],
  type: ['type'],
  renamed: ['renamed'],
}

/** Returns true for an index, and for a name that is another one in each response. */
export function isItemSegment(segment: PathSegment | undefined): boolean {
  return typeof segment === 'number' || isGeneratedName(segment)
}

/** Returns true for items of a list that come and go. */
export function isOfItems({ path, kinds }: Pick<NoisePlace, 'path' | 'kinds'>): boolean {
  return path.at(-1) === EVERY_ITEM && (kinds.has('added') || kinds.has('removed'))
}

/** Items that come and go leave the number of items as it is, if it was the same in all samples. */
function hasUsualLength({ length }: NoisePlace, { lengths }: Difference): boolean {
  return length === undefined || lengths === undefined || lengths.expected === lengths.actual
}

function isAnything({ classes }: NoisePlace): boolean {
  return classes.includes(ANY_CLASS)
}

/** Returns true if a path leads to a place or to something inside of it. */
function covers(place: PathPattern, path: PathPattern): boolean {
  return (
    place.length <= path.length &&
    place.every(
      (segment, at) => segment === path[at] || (segment === EVERY_ITEM && typeof path[at] === 'number'),
    )
  )
}

export function itemsOf(list: PathPattern): PathPattern {
  return [...list, EVERY_ITEM]
}

export function patternOf(path: PathPattern): PathPattern {
  return path.map((segment) => (isItemSegment(segment) ? EVERY_ITEM : segment))
}

export function patternText(path: PathPattern): string {
  return formatPath(patternOf(path))
}

/** A noisy place inside of an item, by its path from the item. */
interface PlaceInItem {
  readonly path: PathPattern
  readonly classes: readonly ValueClass[]
}

/** Leaves the values of noisy places out of an item. A value that does not fit its class says which item it is, so it stays. */
function withoutNoise(value: unknown, places: readonly PlaceInItem[], context: ClassContext): unknown {
  if (places.length === 0) return value
  const isNoise = (child: unknown, inside: readonly PlaceInItem[]): boolean =>
    inside.some(
      ({ path, classes }) =>
        path.length === 0 && (classes.length === 0 || classes.some((one) => one.accepts(child, context))),
    )
  const insideOf = (key: string | number): readonly PlaceInItem[] =>
    places.flatMap(({ path: [first, ...rest], classes }) =>
      first === key || (first === EVERY_ITEM && typeof key === 'number') ? [{ path: rest, classes }] : [],
    )
  if (Array.isArray(value))
    return value.flatMap((item: unknown, at) => {
      const inside = insideOf(at)
      return isNoise(item, inside) ? [] : [withoutNoise(item, inside, context)]
    })
  if (!isObject(value) || value instanceof ExactNumber) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const inside = insideOf(name)
      return isNoise(member, inside) ? [] : [[name, withoutNoise(member, inside, context)]]
    }),
  )
}

function classInside(value: ValueClass, path: PathPattern): ValueClass | undefined {
  return path.reduce<ValueClass | undefined>(
    (inside, segment) => (segment === EVERY_ITEM ? undefined : inside?.child?.(segment)),
    value,
  )
}
