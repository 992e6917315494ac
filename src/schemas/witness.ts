import type { ErrorObject } from 'ajv'
import { canonicalJson } from '../json/canonical.ts'
import { isObject } from '../json/parse.ts'
import { compareTexts, type TextRules } from './pattern-language.ts'
import { ALL_FORMAT_SAMPLES, formatSamples, patternSamples } from './samples.ts'
import { pointerTo, SchemaDocument, type SchemaNode } from './schema-document.ts'
import {
  childNode,
  itemSchemas,
  memberNodes,
  itemNodes,
  namedMembers,
  partsOf,
  requiredNames,
  texts,
  type SchemaPart,
} from './schema-parts.ts'

/** A value that is valid by one schema and invalid by the other, which both validators have confirmed. */
export interface Witness {
  readonly value: unknown
  /** Why the second schema rejects it. */
  readonly error: ErrorObject
}

interface WitnessSearch {
  /** Values to begin with, such as recorded ones. */
  readonly known?: readonly unknown[]
  /** Milliseconds of work that the search may take, about. */
  readonly time: number
  /** How many different reasons are looked for. */
  readonly most?: number
}

/**
 * Searches for values that are valid by the first schema and invalid by the second. Candidates are made from the constants, limits, names and
 * patterns of both schemas, and from known values. A witness is a proof, whatever made it; that none is found proves nothing.
 */
export function findWitnesses(
  from: SchemaDocument,
  into: SchemaDocument,
  { known = [], time, most = 8 }: WitnessSearch,
): readonly Witness[] {
  if (from.problem !== undefined || into.problem !== undefined) return []
  const found = new Map<string, Witness>()
  const [isTooLate, isMuchTooLate] = [workLimit(time), workLimit(time + GRACE_MS)]
  const tried = new Set<string>()
  const isWitness = (value: unknown): boolean => from.accepts(value) === true && into.accepts(value) === false
  const attempt = (value: unknown): void => {
    const key = canonicalJson(value)
    if (tried.has(key) || tried.size > MOST_TRIED) return
    tried.add(key)
    if (!isWitness(value)) return
    const reason = reasonOf(into, value)
    if (reason === undefined || found.has(keyOf(reason))) return
    const small = minimize(
      value,
      (smaller) => isWitness(smaller) && keyOf(reasonOf(into, smaller)) === keyOf(reason),
      isMuchTooLate,
    )
    found.set(keyOf(reason), { value: small, error: reasonOf(into, small) ?? reason })
  }
  const isOver = (): boolean => found.size >= most || isTooLate()
  for (const value of known) if (!isOver()) attempt(value)
  const maker = new CandidateMaker(isTooLate)
  try {
    for (const value of maker.candidates(
      { left: [from.node], right: [into.node], hints: [from.node, into.node] },
      0,
    )) {
      if (isOver()) break
      attempt(value)
    }
    for (const value of known.slice(0, MOST_MUTATED))
      for (const mutated of mutations(value)) if (!isOver()) attempt(mutated)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error // nesting that exceeds the stack: what was found remains
  }
  return [...found.values()]
}

/** Tells when so many milliseconds of work are over. Time in which others work does not count: verdicts must not depend on a busy machine. */
export function workLimit(time: number): () => boolean {
  const end = worked() + time
  return () => worked() > end
}

function worked(): number {
  const used = globalThis.process?.cpuUsage?.()
  return used === undefined ? performance.now() : (used.user + used.system) / 1000
}

const MOST_TRIED = 30_000
const MOST_MUTATED = 20

function reasonOf(into: SchemaDocument, value: unknown): ErrorObject | undefined {
  return into.errorsOf(value)[0]
}

/** The same constraint at the same place is the same reason. */
function keyOf(error: ErrorObject | undefined): string {
  if (error === undefined) return ''
  const detail = error.keyword === 'required' ? String(error.params['missingProperty']) : ''
  return `${error.schemaPath.replace(/^.*#/u, '#')} ${detail} ${error.instancePath.replaceAll(/\/\d+/gu, '/*')}`
}

interface CandidateGoal {
  /** Schemas that a value has to be valid by. */
  readonly left: readonly SchemaNode[]
  /** Schemas that a value should be invalid by. */
  readonly right: readonly SchemaNode[]
  /** Everything that is said about the value, also in alternatives and conditions of both sides. */
  readonly hints: readonly SchemaNode[]
}

const DEEPEST = 5

class CandidateMaker {
  readonly #isOver: () => boolean
  readonly #known = new Map<string, readonly unknown[]>()

  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  /** Values to try, the most promising first. */
  candidates(goal: CandidateGoal, depth: number): readonly unknown[] {
    if (depth > DEEPEST || this.#isOver()) return [null, 'a', 1, {}, []]
    const key = goal.hints.map(({ pointer }) => pointer).join(' ')
    const known = depth > 0 ? this.#known.get(key) : undefined
    if (known !== undefined) return known
    const said = mentioned(goal.hints)
    const raw = [
      ...constants(said),
      ...(allows(said, 'string') ? textsBetween(goal, said) : []),
      ...(allows(said, 'object') ? this.#objects(goal, said, depth) : []),
      ...(allows(said, 'array') ? this.#arrays(goal, said, depth) : []),
      ...scalars(said),
    ]
    if (depth === 0) return raw
    const chosen = this.#chosen(distinct(raw), goal, MOST_CHOSEN[depth] ?? 6)
    this.#known.set(key, chosen)
    return chosen
  }

  /** Values that are valid on the left: those that are invalid on the right first, then a few others of each type. */
  #chosen(values: readonly unknown[], { left, right }: CandidateGoal, most: number): readonly unknown[] {
    const [breaking, valid, others]: [unknown[], unknown[], unknown[]] = [[], [], []]
    for (const value of values) {
      if (this.#isOver()) break
      const isValid = left.every(({ document, pointer }) => document.acceptsAt(pointer, value) !== false)
      if (!isValid) others.push(value)
      else if (right.some(({ document, pointer }) => document.acceptsAt(pointer, value) === false))
        breaking.push(value)
      else valid.push(value)
    }
    // The first is the plainest valid value: it fills the places that are not under test.
    const [plain, ...rest] = valid
    const kept = [...(plain === undefined ? [] : [plain]), ...breaking.slice(0, most), ...rest.slice(0, most)]
    return [...kept, ...others.slice(0, 3)]
  }

  #objects({ left, right }: CandidateGoal, said: readonly SchemaPart[], depth: number): readonly unknown[] {
    const [ours, theirs] = [partsOf(left).parts, partsOf(right).parts]
    const isChanged = (name: string): boolean =>
      wordsOf(memberNodes(ours, name)) !== wordsOf(memberNodes(theirs, name))
    const names = memberNames(said, isChanged)
    const values = new Map<string, readonly unknown[]>()
    for (const name of names)
      values.set(
        name,
        this.candidates(
          { left: memberNodes(ours, name), right: memberNodes(theirs, name), hints: memberNodes(said, name) },
          depth + 1,
        ),
      )
    const plain = (name: string): unknown => values.get(name)?.[0] ?? null
    const objectOf = (list: Iterable<string>): Record<string, unknown> =>
      Object.fromEntries(Array.from(list, (name) => [name, plain(name)]))
    const required = new Set(ours.flatMap(requiredNames))
    const own = new Set(ours.flatMap(namedMembers))
    const bases = [objectOf(required), objectOf(new Set([...required, ...own]))]
    for (const part of said) {
      const more = requiredNames(part)
      if (more.length > 0) bases.push(objectOf(new Set([...required, ...more])))
      const fitting = this.#fitting(part, values)
      if (fitting.length > 0) bases.push({ ...objectOf(required), ...Object.fromEntries(fitting) })
      if (fitting.length > 0)
        bases.push({ ...objectOf(new Set([...required, ...more])), ...Object.fromEntries(fitting) })
    }
    const distinctBases = distinct(bases).slice(0, MOST_BASES).filter(isObject)
    const made: unknown[] = [...distinctBases]
    for (const base of distinctBases) made.push(...this.#changedMembers(base, names, values))
    made.push(...membersByCount(said, objectOf(required)))
    for (const base of distinctBases.slice(0, 4)) made.push(...pairChanges(base, names, values))
    return distinct(made).slice(0, MOST_OBJECTS[depth] ?? 60)
  }

  /** For each member that a schema object describes, a value that fits its description. */
  #fitting(
    part: SchemaPart,
    values: ReadonlyMap<string, readonly unknown[]>,
  ): readonly (readonly [string, unknown])[] {
    const { properties } = part.schema
    if (!isObject(properties)) return []
    return Object.keys(properties).flatMap((name): (readonly [string, unknown])[] => {
      const pointer = pointerTo(part.pointer, 'properties', name)
      const value = values.get(name)?.find((each) => part.document.acceptsAt(pointer, each) === true)
      return value === undefined ? [] : [[name, value]]
    })
  }

  #changedMembers(
    base: Readonly<Record<string, unknown>>,
    names: readonly string[],
    values: ReadonlyMap<string, readonly unknown[]>,
  ): readonly unknown[] {
    return names.flatMap((name) => {
      const { [name]: old, ...rest } = base
      const changed = (values.get(name) ?? []).map((value) => ({ ...base, [name]: value }))
      return old === undefined ? changed : [rest, ...changed]
    })
  }

  #arrays({ left, right }: CandidateGoal, said: readonly SchemaPart[], depth: number): readonly unknown[] {
    const [ours, theirs] = [partsOf(left).parts, partsOf(right).parts]
    const first = Math.min(8, Math.max(0, ...said.map((part) => itemSchemas(part).first.length)))
    const contained = said.flatMap((part) =>
      part.schema['contains'] === undefined ? [] : [childNode(part, part.schema['contains'], 'contains')],
    )
    const itemsAt = (index: number): readonly unknown[] =>
      this.candidates(
        {
          left: itemNodes(ours, index),
          right: itemNodes(theirs, index),
          hints: [...itemNodes(said, index), ...contained],
        },
        depth + 1,
      )
    const places = Array.from({ length: first + 1 }, (_, index) => itemsAt(index))
    const rest = places.at(-1) ?? []
    const tuple = places.slice(0, -1).map((values) => values[0] ?? null)
    const made: unknown[] = [[], tuple, [...tuple, rest[0] ?? null]]
    for (let length = 1; length <= tuple.length; length++) made.push(tuple.slice(0, length))
    for (const [index, values] of places.entries())
      for (const value of values) made.push([...tuple.slice(0, index), value, ...tuple.slice(index + 1)])
    const [one = null, other = one] = rest
    made.push([...tuple, one, one], [...tuple, one, other], [one, one], rest.slice(0, 3))
    for (const value of rest) made.push([value, value], [one, value])
    for (const count of counts(said, ['minItems', 'maxItems', 'minContains', 'maxContains'])) {
      made.push(Array.from({ length: count }, () => one))
      made.push(Array.from({ length: count }, (_, at) => rest[at % Math.max(1, rest.length)] ?? null))
      made.push(distinctItems(one, count))
      for (const value of rest.slice(0, 6)) made.push(Array.from({ length: count }, () => value))
    }
    return distinct(made).slice(0, MOST_OBJECTS[depth] ?? 60)
  }
}

const MOST_CHOSEN: readonly number[] = [0, 14, 8, 5, 4, 3]
const MOST_OBJECTS: readonly number[] = [6_000, 600, 200, 80, 40, 20]
const MOST_BASES = 24
const MOST_NAMES = 60
const MOST_COMPARED = 3_000

function distinct(values: readonly unknown[]): readonly unknown[] {
  const seen = new Set<string>()
  return values.filter((value) => {
    const key = canonicalJson(value)
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}

/** Items of one type that are all different. */
function distinctItems(like: unknown, count: number): readonly unknown[] {
  return Array.from({ length: count }, (_, at) => {
    if (typeof like === 'number') return like + at
    return typeof like === 'string' ? `${like}${at}` : isObject(like) ? { ...like, [`n${at}`]: at } : like
  })
}

/** All that is said about a value: through references, and in alternatives and conditions. */
function mentioned(nodes: readonly SchemaNode[]): readonly SchemaPart[] {
  const found = new Map<string, SchemaPart>()
  const ids = new Map<SchemaDocument, number>()
  const visit = (node: SchemaNode): void => {
    for (const part of partsOf([node]).parts) {
      if (!ids.has(part.document)) ids.set(part.document, ids.size)
      const key = `${ids.get(part.document)}#${part.pointer}`
      if (found.has(key) || found.size > MOST_MENTIONED) continue
      found.set(key, part)
      for (const keyword of ['anyOf', 'oneOf'] as const)
        for (const [at, schema] of listOf(part.schema[keyword]).entries())
          visit(childNode(part, schema, keyword, at))
      for (const keyword of ['if', 'then', 'else', 'not'] as const)
        if (part.schema[keyword] !== undefined) visit(childNode(part, part.schema[keyword], keyword))
      for (const keyword of ['dependentSchemas', 'dependencies'] as const) {
        const map = part.schema[keyword]
        for (const [name, schema] of Object.entries(isObject(map) ? map : {}))
          if (!Array.isArray(schema)) visit(childNode(part, schema, keyword, name))
      }
    }
  }
  for (const node of nodes) visit(node)
  return [...found.values()]
}

const MOST_MENTIONED = 200

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns false if everything that is said about the type excludes it. */
function allows(said: readonly SchemaPart[], type: string): boolean {
  const types = said.flatMap(({ schema }) => (schema['type'] === undefined ? [] : [schema['type']]))
  return (
    types.length === 0 ||
    types.some((named) => named === type || listOf(named).includes(type)) ||
    said.some(
      ({ schema }) =>
        schema['type'] === undefined &&
        (type === 'object' ? OBJECT_KEYWORDS : ARRAY_KEYWORDS).some(
          (keyword) => schema[keyword] !== undefined,
        ),
    )
  )
}

const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'patternProperties']
const ARRAY_KEYWORDS = ['items', 'prefixItems', 'contains', 'minItems', 'maxItems']

function constants(said: readonly SchemaPart[]): readonly unknown[] {
  return said.flatMap(({ schema }) => [
    ...(Object.hasOwn(schema, 'const') ? [schema['const']] : []),
    ...evenly(listOf(schema['enum']), MOST_CONSTANTS),
    ...(Object.hasOwn(schema, 'default') ? [schema['default']] : []),
    ...listOf(schema['examples']).slice(0, 5),
  ])
}

const MOST_CONSTANTS = 300

/** Members of a long list, spread over it. */
function evenly(list: readonly unknown[], most: number): readonly unknown[] {
  if (list.length <= most) return list
  return Array.from({ length: most }, (_, at) => list[Math.floor((at * list.length) / most)])
}

/** Texts that follow the rules of one side and not those of the other, also of alternatives. */
function textsBetween({ left, right }: CandidateGoal, said: readonly SchemaPart[]): readonly string[] {
  const rules = said.flatMap((part) => textRules([part])).slice(0, MOST_RULES)
  const ours = textRules(partsOf(left).parts)
  const pairs = [
    ...ours.flatMap((one) =>
      partsOf(right).parts.flatMap((part) => textRules([part]).map((other) => [one, other])),
    ),
    ...ours.flatMap((one) => rules.map((other) => [one, other])),
    ...rules.flatMap((one) => rules.map((other) => [one, other])),
  ]
  const found = new Set<string>()
  for (const [one, other] of pairs) {
    const compared = one && other && one !== other ? compareTexts(one, other) : undefined
    if (compared?.kind === 'outside') found.add(compared.text)
  }
  return [...found]
}

const MOST_RULES = 6

/** What schemas that all apply say about a text; nothing if they have no pattern. */
function textRules(parts: readonly SchemaPart[]): readonly TextRules[] {
  const limits = (keyword: string): readonly number[] =>
    parts.map(({ schema }) => schema[keyword]).filter((value) => typeof value === 'number')
  const patterns = parts.map(({ schema }) => schema['pattern']).filter((one) => typeof one === 'string')
  const [least, most] = [Math.max(0, ...limits('minLength')), Math.min(Infinity, ...limits('maxLength'))]
  return patterns.length === 0 && least === 0 && most === Infinity ? [] : [{ patterns, least, most }]
}

function scalars(said: readonly SchemaPart[]): readonly unknown[] {
  const patterns = distinct(said.map(({ schema }) => schema['pattern'])).filter(
    (value) => typeof value === 'string',
  )
  const ofPatterns = patterns.flatMap(patternSamples)
  const formats = distinct(said.map(({ schema }) => schema['format'])).filter(
    (value) => typeof value === 'string',
  )
  const lengths = counts(said, ['minLength', 'maxLength'])
  const strings = [
    'a',
    ...ofPatterns,
    ...formats.flatMap(formatSamples),
    ...(formats.length > 0 ? ALL_FORMAT_SAMPLES : []),
    '',
    '0',
    'A',
    ' ',
    'zz',
    'é',
    'a b',
    '😀',
    'true',
    '1.5',
    '-1',
    ...lengths.flatMap((length) => [
      'a'.repeat(length),
      '0'.repeat(length),
      ...ofPatterns.slice(0, 6).map((text) => text.slice(0, 1).repeat(length)),
    ]),
  ]
  return [...strings.slice(0, 1), ...numbers(said), ...strings.slice(1), true, false, null, {}, []]
}

/** The numbers of some keywords, and their neighbours. */
function counts(said: readonly SchemaPart[], keywords: readonly string[]): readonly number[] {
  const named = said
    .flatMap(({ schema }) => keywords.map((keyword) => schema[keyword]))
    .filter((value) => typeof value === 'number')
  const near = named.flatMap((count) => [count - 1, count, count + 1])
  return [...new Set(near)].filter((count) => Number.isInteger(count) && count >= 0 && count <= MOST_REPEATED)
}

const MOST_REPEATED = 12_000

function numbers(said: readonly SchemaPart[]): readonly number[] {
  const value = (keyword: string): readonly number[] =>
    said.map(({ schema }) => schema[keyword]).filter((one) => typeof one === 'number')
  const bounds = [
    ...new Set([
      ...value('minimum'),
      ...value('maximum'),
      ...value('exclusiveMinimum'),
      ...value('exclusiveMaximum'),
    ]),
  ]
  const factors = [...new Set(value('multipleOf'))].filter((factor) => factor > 0)
  const multiples = factors.flatMap((factor) => [
    factor,
    2 * factor,
    3 * factor,
    5 * factor,
    7 * factor,
    -factor,
    factor / 2,
    ...bounds.flatMap((bound) => [
      Math.ceil(bound / factor) * factor,
      Math.floor(bound / factor) * factor,
      (Math.ceil(bound / factor) + 1) * factor,
      (Math.floor(bound / factor) - 1) * factor,
      (Math.ceil(bound / factor) + 2) * factor,
    ]),
  ])
  const middles = bounds.flatMap((one) => bounds.map((other) => (one + other) / 2))
  const near = bounds.flatMap((bound) => [
    bound,
    bound - 1,
    bound + 1,
    bound - 0.5,
    bound + 0.5,
    bound - 0.001,
    bound + 0.001,
    bound - 10,
    bound + 10,
  ])
  const all = [
    1,
    0,
    ...near,
    ...multiples,
    ...middles,
    ...middles.map(Math.round),
    -1,
    1.5,
    0.5,
    2,
    3,
    7,
    10,
    100,
    1_000_000,
    -1_000_000,
    2 ** 40,
  ]
  // Beyond these numbers a difference of 1 is lost, and programs print exponents.
  return [...new Set(all)].filter((number) => Math.abs(number) <= 2 ** 53)
}

/** The names of members: of many, first those that the two sides describe differently. */
function memberNames(said: readonly SchemaPart[], isChanged: (name: string) => boolean): readonly string[] {
  const names = new Set<string>()
  for (const part of said) {
    for (const name of [...namedMembers(part), ...requiredNames(part)]) names.add(name)
    const { dependentRequired, dependencies, dependentSchemas } = part.schema
    for (const map of [dependentRequired, dependencies, dependentSchemas])
      for (const [name, needed] of Object.entries(isObject(map) ? map : {}))
        for (const each of [name, ...texts(needed)]) names.add(each)
  }
  const isFew = names.size <= MOST_NAMES
  const [changed, others] = isFew ? [[...names], []] : divided([...names].slice(0, MOST_COMPARED), isChanged)
  const listed = [...changed, ...others].slice(0, MOST_NAMES)
  return [...new Set([...listed, ...namesOfPatterns(said), 'extra'])]
}

function divided<Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] {
  const [first, rest]: [Item[], Item[]] = [[], []]
  for (const item of items) (isFirst(item) ? first : rest).push(item)
  return [first, rest]
}

function wordsOf(nodes: readonly SchemaNode[]): string {
  return nodes.map(({ schema }) => canonicalJson(schema)).join(' ')
}

/** Names that patterns and `propertyNames` accept or reject. */
function namesOfPatterns(said: readonly SchemaPart[]): readonly string[] {
  const patterns = said.flatMap(({ schema }) =>
    Object.keys(isObject(schema['patternProperties']) ? schema['patternProperties'] : {}),
  )
  const ofNames = said.flatMap((part) => {
    const { propertyNames } = part.schema
    return propertyNames === undefined
      ? []
      : scalars(mentioned([childNode(part, propertyNames, 'propertyNames')])).concat(
          constants(mentioned([childNode(part, propertyNames, 'propertyNames')])),
        )
  })
  const ofNamesTexts = ofNames.filter((name) => typeof name === 'string' && name.length < 300)
  return [
    ...patterns.flatMap((pattern) => patternSamples(pattern).slice(0, 6)),
    ...ofNamesTexts.slice(0, 30),
  ].filter((name) => typeof name === 'string')
}

/** Objects with as many members as `minProperties` and `maxProperties` say, one less and one more. */
function membersByCount(
  said: readonly SchemaPart[],
  base: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  return counts(said, ['minProperties', 'maxProperties'])
    .filter((count) => count < 500)
    .flatMap((count) => {
      const own = Object.entries(base)
      const more = Array.from({ length: Math.max(0, count - own.length) }, (_, at) => `extra${at}`)
      return ['a', 1, {}, true].map((value) =>
        Object.fromEntries([...own.slice(0, count), ...more.map((name) => [name, value] as const)]),
      )
    })
}

/** Two members changed at once, for conditions and dependencies. */
function pairChanges(
  base: Readonly<Record<string, unknown>>,
  names: readonly string[],
  values: ReadonlyMap<string, readonly unknown[]>,
): readonly unknown[] {
  const few = names.slice(0, 12)
  const options = (name: string): readonly unknown[] => [undefined, ...(values.get(name) ?? []).slice(0, 6)]
  return few.flatMap((one, at) =>
    few.slice(at + 1).flatMap((other) =>
      options(one).flatMap((first) =>
        options(other).map((second) => {
          const changed: Record<string, unknown> = { ...base, [one]: first, [other]: second }
          if (first === undefined) delete changed[one]
          if (second === undefined) delete changed[other]
          return changed
        }),
      ),
    ),
  )
}

/** Small changes of a known value. */
function* mutations(value: unknown): Generator {
  if (!isObject(value)) return
  for (const name of Object.keys(value)) {
    const { [name]: old, ...rest } = value
    yield rest
    for (const other of [
      null,
      '',
      'a',
      0,
      1.5,
      -1,
      true,
      [],
      {},
      typeof old === 'number' ? String(old) : Number(old) || 1,
    ])
      yield { ...value, [name]: other }
    if (typeof old === 'number')
      for (const other of [old + 1, old - 1, old * 2, -old]) yield { ...value, [name]: other }
    if (typeof old === 'string')
      for (const other of [`${old}x`, old.toUpperCase(), old.slice(1)]) yield { ...value, [name]: other }
  }
  yield { ...value, extra: 'a' }
}

/** Makes a value smaller as long as it stays a witness. */
function minimize(value: unknown, isStill: (smaller: unknown) => boolean, isOver: () => boolean): unknown {
  let current = value
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let isSmaller = false
    for (const next of smallerValues(current)) {
      if (isOver()) return current
      if (!isStill(next)) continue
      current = next
      isSmaller = true
      break
    }
    if (!isSmaller) return current
  }
  return current
}

const MOST_ROUNDS = 200
const GRACE_MS = 200

/** Simpler forms of a value: without a member or item, or with a simpler one. */
function* smallerValues(value: unknown, depth = 0): Generator {
  if (depth > DEEPEST + 1) return
  if (Array.isArray(value)) {
    for (const [at] of value.entries()) if (at < 50) yield value.toSpliced(at, 1)
    for (const [at, item] of value.entries())
      if (at < 10) for (const smaller of smallerValues(item, depth + 1)) yield value.with(at, smaller)
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const { [name]: _, ...rest } = value
      yield rest
    }
    for (const [name, inside] of Object.entries(value))
      for (const smaller of smallerValues(inside, depth + 1)) yield { ...value, [name]: smaller }
  } else if (typeof value === 'string') {
    for (const simple of ['', 'a']) if (simple.length < value.length) yield simple
    if (value.length > 1) yield value.slice(0, Math.floor(value.length / 2))
    if (value.length > 1) yield value.slice(0, -1)
  } else if (typeof value === 'number') {
    for (const simple of [0, 1, Math.trunc(value)])
      if (Math.abs(simple) < Math.abs(value) && simple !== value) yield simple
  }
}
