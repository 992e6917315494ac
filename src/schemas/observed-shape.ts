import { isObject, type JsonObject } from '../json/parse.ts'

/** What values that were really seen have in common. Counts say how much is known: nothing is guessed from a single value. */
export interface ObservedShape {
  /** How many values were seen. */
  readonly seen: number
  /** The types with their counts, such as `{ string: 12, null: 1 }`. */
  readonly types: Readonly<Record<string, number>>
  /** Members of the objects. One that was seen less often than its object is optional. */
  readonly members?: Readonly<Record<string, ObservedShape>>
  /** The members of objects whose names are data, such as ids: their values are alike. */
  readonly anyMember?: ObservedShape
  /** The items of the lists. */
  readonly items?: ObservedShape
  /** The values, if there are few and they were repeated. */
  readonly values?: readonly unknown[]
  /** The format of all texts. */
  readonly format?: string
  /** The smallest and the largest number. */
  readonly range?: readonly [number, number]
}

/** Infers a shape from samples. */
export function observeShape(samples: readonly unknown[], depth = 0): ObservedShape {
  const types: Record<string, number> = {}
  for (const sample of samples) types[typeName(sample)] = (types[typeName(sample)] ?? 0) + 1
  const shape: ObservedShape = { seen: samples.length, types }
  if (depth > DEEPEST) return shape
  const objects = samples.filter(isObject)
  const lists = samples.filter((sample) => Array.isArray(sample))
  return {
    ...shape,
    ...(objects.length > 0 && membersOf(objects, depth)),
    ...(lists.some(({ length }) => length > 0) && {
      items: observeShape(
        lists.flatMap((list: readonly unknown[]) => list.slice(0, MOST_ITEMS)).slice(0, MOST_SAMPLES),
        depth + 1,
      ),
    }),
    ...factsOf(samples),
  }
}

const DEEPEST = 12
const MOST_ITEMS = 200
const MOST_SAMPLES = 5_000
const MOST_MEMBERS = 40

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function membersOf(
  objects: readonly JsonObject[],
  depth: number,
): Pick<ObservedShape, 'members' | 'anyMember'> {
  const names = new Map<string, unknown[]>()
  for (const object of objects)
    for (const [name, value] of Object.entries(object)) {
      const values = names.get(name)
      if (values === undefined) names.set(name, [value])
      else values.push(value)
    }
  if (names.size === 0) return {}
  const areData =
    names.size > MOST_MEMBERS ||
    (names.size >= 2 && [...names.keys()].every((name) => /\d/u.test(name) && name.length >= 3))
  if (areData)
    return { anyMember: observeShape([...names.values()].flat().slice(0, MOST_SAMPLES), depth + 1) }
  return {
    members: Object.fromEntries(
      Array.from(names, ([name, values]) => [name, observeShape(values, depth + 1)]),
    ),
  }
}

function factsOf(samples: readonly unknown[]): Pick<ObservedShape, 'values' | 'format' | 'range'> {
  const numbers = samples.filter((sample) => typeof sample === 'number')
  if (numbers.length === samples.length && numbers.length > 1) {
    const [least, most] = [Math.min(...numbers.slice(0, 10_000)), Math.max(...numbers.slice(0, 10_000))]
    return { range: [least, most] }
  }
  const strings = samples.filter((sample) => typeof sample === 'string')
  if (strings.length !== samples.length || strings.length === 0) return {}
  const format = FORMATS.find(([, pattern]) =>
    strings.every((text) => text.length < 200 && pattern.test(text)),
  )?.[0]
  if (format !== undefined) return { format }
  const values = new Set(strings)
  const isChoice =
    values.size <= MOST_VALUES &&
    strings.length >= 3 * values.size &&
    strings.every((text) => text.length <= 40)
  return isChoice ? { values: [...values].toSorted() } : {}
}

const MOST_VALUES = 8

/** Formats that texts can be told apart by, the narrowest first. */
const FORMATS: readonly (readonly [string, RegExp])[] = [
  ['uuid', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu],
  ['date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u],
  ['date', /^\d{4}-\d\d-\d\d$/u],
  ['email', /^[\w.+-]+@[\w-]+\.[\w.]+$/u],
  ['uri', /^[a-z][a-z0-9+.-]*:\/\/\S+$/iu],
  ['ipv4', /^(?:\d{1,3}\.){3}\d{1,3}$/u],
]

/** A way in which values differ from what was seen before. */
export interface ShapeChange {
  readonly kind: 'lost' | 'type'
  readonly path: string
  readonly before: string
  readonly after: string
}

/** Compares what was seen before with what is seen now: members that were always there and are missing, and types that are new. */
export function compareShapes(
  before: ObservedShape,
  after: ObservedShape,
  path = '',
): readonly ShapeChange[] {
  if (after.seen === 0 || before.seen === 0) return []
  const extra = Object.keys(after.types).filter(
    (type) => before.types[type] === undefined && !isWider(type, before),
  )
  if (extra.length > 0)
    return [{ kind: 'type', path, before: Object.keys(before.types).join(' or '), after: extra.join(' or ') }]
  const changes: ShapeChange[] = []
  const [objects, others] = [before.types['object'] ?? 0, after.types['object'] ?? 0]
  for (const [name, member] of Object.entries(before.members ?? {})) {
    const now = after.members?.[name]
    const here = path === '' ? name : `${path}.${name}`
    if (member.seen === objects && others > 0 && (now?.seen ?? 0) < others && after.anyMember === undefined)
      changes.push({
        kind: 'lost',
        path: here,
        before: `in all ${objects}`,
        after: `in ${now?.seen ?? 0} of ${others}`,
      })
    if (now !== undefined) changes.push(...compareShapes(member, now, here))
  }
  if (before.items !== undefined && after.items !== undefined)
    changes.push(...compareShapes(before.items, after.items, `${path}[*]`))
  if (before.anyMember !== undefined && after.anyMember !== undefined)
    changes.push(...compareShapes(before.anyMember, after.anyMember, `${path}.*`))
  return changes
}

/** Whole numbers are numbers. */
function isWider(type: string, { types }: ObservedShape): boolean {
  return (
    (type === 'integer' && types['number'] !== undefined) ||
    (type === 'number' && types['integer'] !== undefined)
  )
}

/** A shape from a file. Returns `undefined` if it is none. */
export function readShape(value: unknown, depth = 0): ObservedShape | undefined {
  if (
    !isObject(value) ||
    typeof value['seen'] !== 'number' ||
    !isObject(value['types']) ||
    depth > 2 * DEEPEST
  )
    return undefined
  const { seen, types, members, anyMember, items } = value
  const [any, item] = [readShape(anyMember, depth + 1), readShape(items, depth + 1)]
  const counted = Object.entries(types).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  const own = Object.entries(isObject(members) ? members : {}).flatMap(([name, member]) => {
    const shape = readShape(member, depth + 1)
    return shape === undefined ? [] : [[name, shape] as const]
  })
  return {
    seen,
    types: Object.fromEntries(counted),
    ...(own.length > 0 && { members: Object.fromEntries(own) }),
    ...(any && { anyMember: any }),
    ...(item && { items: item }),
  }
}
