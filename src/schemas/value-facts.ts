import { isObject } from '../json/parse.ts'
import { compareTexts, readPattern, type TextRules } from './pattern-language.ts'
import {
  ALL_TYPES,
  entriesOf,
  itemSchemas,
  namedMembers,
  requiredNames,
  texts,
  typesNamed,
  type SchemaPart,
  type SchemaValueType,
} from './schema-parts.ts'

/** A limit of a number. */
interface Bound {
  readonly value: number
  readonly isExclusive: boolean
}

/** What schemas that all apply say about a value. */
export class ValueFacts {
  readonly #parts: readonly SchemaPart[]
  readonly #types: ReadonlySet<SchemaValueType>
  readonly required: ReadonlySet<string>
  readonly least: Bound | undefined
  readonly most: Bound | undefined

  constructor(parts: readonly SchemaPart[], types: ReadonlySet<SchemaValueType>) {
    this.#parts = parts
    this.#types = types
    this.required = requiredBy(parts)
    const areWhole = !types.has('fraction')
    this.least = strongest(
      parts.map(({ schema }) => {
        const bound = boundOf(schema['minimum'], schema['exclusiveMinimum'], Math.max)
        return bound && areWhole ? wholeBound(bound, 1) : bound
      }),
      (a, b) => a > b,
    )
    this.most = strongest(
      parts.map(({ schema }) => {
        const bound = boundOf(schema['maximum'], schema['exclusiveMaximum'], Math.min)
        return bound && areWhole ? wholeBound(bound, -1) : bound
      }),
      (a, b) => a < b,
    )
  }

  /** The strongest of the numbers that the parts give for a keyword. */
  number(keyword: string, which: 'min' | 'max', otherwise: number): number {
    const values = this.#parts
      .map(({ schema }) => schema[keyword])
      .filter((value) => typeof value === 'number')
    return Math[which](otherwise, ...values)
  }

  /** The lengths that a text can have, by its limits and formats, and the patterns that it matches. */
  get text(): TextRules {
    const lengths = this.#parts.flatMap(({ schema }) => {
      const known = FORMAT_LENGTHS[String(schema['format'])]
      return known === undefined ? [] : [known]
    })
    const patterns = this.#parts.flatMap(({ schema }) => [
      schema['pattern'],
      FORMAT_PATTERNS[String(schema['format'])],
    ])
    return {
      patterns: patterns.filter((one) => typeof one === 'string'),
      least: Math.max(this.number('minLength', 'max', 0), ...lengths.map(([least]) => least)),
      most: Math.min(this.number('maxLength', 'min', Infinity), ...lengths.map(([, most]) => most)),
    }
  }

  /** What can be counted and compared. Rules that are left out allow more texts. */
  get counted(): TextRules {
    const { patterns, least, most } = this.text
    return {
      patterns: patterns.filter((pattern) => readPattern(pattern) !== undefined),
      least: Math.min(least, MOST_COUNTED),
      most: most > MOST_COUNTED ? Infinity : most,
    }
  }

  /** All texts that follow the rules follow these too. */
  areTexts(rules: Partial<TextRules>): boolean {
    return compareTexts(this.counted, { patterns: [], least: 0, most: Infinity, ...rules })?.kind === 'within'
  }

  has(keyword: string, value: unknown): boolean {
    return this.#parts.some(({ schema }) => schema[keyword] === value)
  }

  /** The values have this format: it is named, or one that is narrower, or every value has it. */
  hasFormat(format: unknown): boolean {
    if (typeof format !== 'string') return false
    const narrower = NARROWER_FORMATS[format] ?? []
    return FORMATS_OF_ALL.has(format) || [format, ...narrower].some((one) => this.has('format', one))
  }

  isMultipleOf(factor: number): boolean {
    const known = this.#parts
      .map(({ schema }) => schema['multipleOf'])
      .filter((value) => typeof value === 'number')
    if (!this.#types.has('fraction')) known.push(1)
    const multiple = known
      .filter((one) => Number.isSafeInteger(one) && one > 0)
      .reduce(leastCommonMultiple, 1)
    return [...known, multiple].some((one) =>
      Number.isSafeInteger(one) && Number.isSafeInteger(factor)
        ? one % factor === 0
        : one === factor || (isDyadic(factor) && Number.isSafeInteger(one / factor)),
    )
  }

  /** One member is only there together with another one. */
  needs(name: string, other: string): boolean {
    return this.#parts.some(({ schema }) =>
      [schema['dependentRequired'], schema['dependencies']].some(
        (map) => isObject(map) && texts(map[name]).includes(other),
      ),
    )
  }

  /** The names of all members, if no others are valid. */
  closedNames(): readonly string[] | undefined {
    const closed = this.#parts.find(
      ({ schema }) =>
        schema['additionalProperties'] === false && entriesOf(schema['patternProperties']).length === 0,
    )
    return closed && namedMembers(closed)
  }

  mostMembers(): number {
    return this.closedNames()?.length ?? Infinity
  }

  mostItems(): number {
    const closed = this.#parts.flatMap((part) => {
      const { first, rest } = itemSchemas(part)
      return rest?.schema === false ? [first.length] : []
    })
    return Math.min(this.number('maxItems', 'min', Infinity), ...closed)
  }
}

/** The lengths of texts of some formats. */
const FORMAT_LENGTHS: Readonly<Record<string, readonly [number, number]>> = {
  date: [10, 10],
  time: [9, Infinity],
  'date-time': [20, Infinity],
  uuid: [36, 45],
  ipv4: [7, 15],
  ipv6: [2, 45],
  uri: [2, Infinity],
  email: [3, 320],
  duration: [3, Infinity],
  hostname: [1, 254],
}
/** What all texts of a format match. A text that matches need not be one. */
const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  date: String.raw`^\d{4}-\d{2}-\d{2}$`,
  time: String.raw`^\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}(:?\d{2})?)$`,
  'date-time': String.raw`^\d{4}-\d{2}-\d{2}[Tt\s]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}(:?\d{2})?)$`,
  uuid: '^([Uu][Rr][Nn]:[Uu][Uu][Ii][Dd]:)?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
  ipv4: String.raw`^\d{1,3}(\.\d{1,3}){3}$`,
  ipv6: '^[0-9A-Fa-f:.]+$',
  hostname: '^[A-Za-z0-9.-]+$',
  uri: '^[A-Za-z][A-Za-z0-9+.-]*:',
  email: '@',
  duration: '^P',
}
/** By their specifications, all values of the other formats have the format. */
const NARROWER_FORMATS: Readonly<Record<string, readonly string[]>> = {
  'uri-reference': ['uri'],
  'iso-time': ['time'],
  'iso-date-time': ['date-time'],
  int64: ['int32'],
}
/** Formats that say how a value is shown or stored. Every value has them. */
const FORMATS_OF_ALL: ReadonlySet<string> = new Set(['password', 'binary', 'float', 'double'])
const MOST_COUNTED = 500

/** Returns 1 if the multiple is too large to be exact. */
function leastCommonMultiple(one: number, other: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
  const least = (one / divisor(one, other)) * other
  return Number.isSafeInteger(least) ? least : 1
}

/** Fractions that are divided without rounding. */
function isDyadic(value: number): boolean {
  return Number.isSafeInteger(value * 2 ** 20)
}

/** `required`, and what is required beside it. */
export function requiredBy(parts: readonly SchemaPart[]): ReadonlySet<string> {
  const names = new Set(parts.flatMap(requiredNames))
  for (const name of names)
    for (const { schema } of parts)
      for (const map of [schema['dependentRequired'], schema['dependencies']])
        if (isObject(map)) for (const other of texts(map[name])) names.add(other)
  return names
}

function strongest(
  bounds: readonly (Bound | undefined)[],
  isStronger: (one: number, other: number) => boolean,
): Bound | undefined {
  return bounds.reduce((best, bound) => {
    if (bound === undefined || best === undefined) return best ?? bound
    if (bound.value === best.value) return bound.isExclusive ? bound : best
    return isStronger(bound.value, best.value) ? bound : best
  }, undefined)
}

export function boundOf(
  inclusive: unknown,
  exclusive: unknown,
  pick: (...values: number[]) => number,
): Bound | undefined {
  const [own, other] = [inclusive, exclusive].map((value) => (typeof value === 'number' ? value : undefined))
  if (own === undefined && other === undefined) return undefined
  if (own === undefined || other === undefined)
    return { value: own ?? other ?? 0, isExclusive: own === undefined }
  const value = pick(own, other)
  return { value, isExclusive: value === other }
}

/** The first whole number within a limit. */
function wholeBound({ value, isExclusive }: Bound, step: 1 | -1): Bound {
  if (!Number.isSafeInteger(Math.trunc(value))) return { value, isExclusive }
  const whole = step === 1 ? Math.ceil(value) : Math.floor(value)
  return { value: isExclusive && whole === value ? whole + step : whole, isExclusive: false }
}

export function isAtLeast(known: Bound | undefined, needed: Bound): boolean {
  if (known === undefined) return false
  return (
    known.value > needed.value || (known.value === needed.value && (known.isExclusive || !needed.isExclusive))
  )
}

export function isAtMost(known: Bound | undefined, needed: Bound): boolean {
  if (known === undefined) return false
  return (
    known.value < needed.value || (known.value === needed.value && (known.isExclusive || !needed.isExclusive))
  )
}

export function typesOf(parts: readonly SchemaPart[]): ReadonlySet<SchemaValueType> {
  let types = new Set<SchemaValueType>(ALL_TYPES)
  for (const { schema } of parts) {
    if (schema['type'] !== undefined) types = common(types, typesNamed(schema['type']))
    const { not, multipleOf } = schema
    if (isObject(not) && Object.keys(not).length === 1 && not['type'] !== undefined)
      for (const type of typesNamed(not['type'])) types.delete(type)
    if (typeof multipleOf === 'number' && Number.isSafeInteger(multipleOf)) types.delete('fraction')
  }
  return types
}

function common(
  one: ReadonlySet<SchemaValueType>,
  other: ReadonlySet<SchemaValueType>,
): Set<SchemaValueType> {
  return new Set([...one].filter((type) => other.has(type)))
}

/** All whole numbers between two limits, if there are few. */
export function integersOf(
  parts: readonly SchemaPart[],
  types: ReadonlySet<SchemaValueType>,
): readonly number[] | undefined {
  if (types.size !== 1 || !types.has('integer')) return undefined
  const { least, most } = new ValueFacts(parts, types)
  if (least === undefined || most === undefined) return undefined
  const [from, to] = [Math.ceil(least.value), Math.floor(most.value)]
  if (to - from > MOST_INTEGERS || !Number.isSafeInteger(from) || !Number.isSafeInteger(to)) return undefined
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)
}

const MOST_INTEGERS = 500

/** The values that a schema lists; `undefined` if it does not. */
export function valuesListed(schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema)) return undefined
  const { enum: listed } = schema
  if (Array.isArray(listed)) return listed
  return Object.hasOwn(schema, 'const') ? [schema['const']] : undefined
}
