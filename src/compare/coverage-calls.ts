import { canonicalJson } from '../json/canonical.ts'
import { isObject, member } from '../json/parse.ts'
import { formatSamples } from '../schemas/samples.ts'
import { SchemaDocument, type SchemaNode } from '../schemas/schema-document.ts'
import {
  itemNodes,
  memberNodes,
  namedMembers,
  partsOf,
  requiredNames,
  type SchemaPart,
} from '../schemas/schema-parts.ts'
import { findWitnesses } from '../schemas/witness.ts'

/** Something that a call can exercise. */
export interface CoveragePoint {
  readonly kind: CoverageKind
  /** Names of members; `[]` stands for the items of a list. */
  readonly path?: readonly string[]
  /** A value that the schema names. */
  readonly value?: unknown
  readonly uses: number
}

/** `use`: it was called, got or read. `error`: a call of it failed. */
export type CoverageKind = 'use' | 'argument' | 'value' | 'error'

export type OfferKind = 'tool' | 'prompt' | 'resource' | 'template'

/** A call that would cover what no recorded call does. */
export interface SuggestedCall {
  readonly kind: OfferKind
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** The points that it would cover. */
  readonly covers: readonly CoveragePoint[]
  /** The tool is not marked as read-only. */
  readonly mayWrite: boolean
}

interface CoverageGaps {
  readonly kind: OfferKind
  readonly name: string
  readonly points: readonly CoveragePoint[]
}

interface SuggestionContext {
  readonly document: SchemaDocument
  /** Arguments of calls that succeeded, the latest last. */
  readonly samples: readonly unknown[]
  readonly mayWrite: boolean
  /** Values of recorded calls, also of other tools, by the names of the arguments. */
  readonly values: ReadonlyMap<string, readonly unknown[]>
}

const MOST_CALLS = 20

/** Makes as few calls as it can: each covers everything that fits into it. They are valid by the schema, but for the one that should fail. */
export function suggestCalls(item: CoverageGaps, context: SuggestionContext): readonly SuggestedCall[] {
  const { document, mayWrite } = context
  const call = (
    values: Readonly<Record<string, unknown>>,
    covers: readonly CoveragePoint[],
  ): SuggestedCall => ({
    kind: item.kind,
    name: item.name,
    arguments: values,
    covers,
    mayWrite,
  })
  const base = plainArguments(context)
  const calls: SuggestedCall[] = []
  const mostCalls = base === undefined ? 0 : MOST_CALLS
  let missing = item.points.filter(({ uses, kind }) => uses === 0 && kind !== 'error')
  while (missing.length > 0 && calls.length < mostCalls) {
    let values: Readonly<Record<string, unknown>> = base ?? {}
    for (const point of missing) {
      if (isCovered(point, values)) continue
      // A value that takes the place of another uncovered one waits for the next call.
      const changed = withPoint(values, point, context)
      const lost = missing.some((each) => isCovered(each, values) && !isCovered(each, changed ?? {}))
      if (changed !== undefined && !lost) values = changed
    }
    const covers = missing.filter((point) => isCovered(point, values))
    if (covers.length === 0) break
    calls.push(call(values, covers))
    missing = missing.filter((point) => !covers.includes(point))
  }
  const error = item.points.find(({ kind, uses }) => kind === 'error' && uses === 0)
  const invalid = error === undefined ? undefined : invalidArguments(base ?? {}, document)
  return error === undefined || invalid === undefined ? calls : [...calls, call(invalid, [error])]
}

function isCovered({ kind, path = [], value }: CoveragePoint, values: unknown): boolean {
  if (kind === 'use') return true
  const found = valuesAt(values, path)
  if (kind === 'argument') return found.length > 0
  return found.some((each) => canonicalJson(each) === canonicalJson(value))
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): readonly unknown[] {
  if (name === undefined) return [value]
  if (name === '[]') return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : []
  return isObject(value) && Object.hasOwn(value, name) ? valuesAt(value[name], rest) : []
}

/** The arguments of the last call that succeeded, or else the required ones. */
function plainArguments({
  document,
  samples,
  values,
}: SuggestionContext): Readonly<Record<string, unknown>> | undefined {
  const recorded = samples.findLast((sample) => isObject(sample) && document.accepts(sample) !== false)
  if (isObject(recorded)) return recorded
  const made = objectOf([document.node], { values, depth: 0 })
  if (document.accepts(made) !== false) return made
  const [found] = findWitnesses(document, new SchemaDocument(false), { time: 200, most: 1 })
  return isObject(found?.value) ? found.value : undefined
}

interface SampleContext {
  readonly values: SuggestionContext['values']
  readonly depth: number
}

const DEEPEST = 6

function objectOf(nodes: readonly SchemaNode[], context: SampleContext): Readonly<Record<string, unknown>> {
  const { parts } = partsOf(nodes)
  const names = new Set(parts.flatMap(requiredNames))
  return Object.fromEntries(
    Array.from(names, (name) => [name, sampleOf(name, memberNodes(parts, name), context)]),
  )
}

/** A value that somebody could have written: a recorded one of the same name, one that the schema names, or a plain one of its type. */
function sampleOf(name: string, nodes: readonly SchemaNode[], { values, depth }: SampleContext): unknown {
  const isValid = (value: unknown): boolean =>
    nodes.every(({ document, pointer }) => document.acceptsAt(pointer, value) !== false)
  const recorded = values.get(name)?.findLast(isValid)
  if (recorded !== undefined) return recorded
  const parts = allParts(nodes)
  const candidates = [...parts.flatMap(namedSamples), ...typedSamples(name, parts)]
  const plain = candidates.find(isValid)
  if (plain !== undefined || depth > DEEPEST) return plain
  const inner = { values, depth: depth + 1 }
  const made = [objectOf(nodes, inner), [sampleOf(singular(name), itemNodes(parts, 0), inner)]].find(isValid)
  if (made !== undefined) return made
  const [node] = nodes
  const witness =
    node && findWitnesses(new SchemaDocument(node.schema), new SchemaDocument(false), SHORT_SEARCH)
  return witness?.[0]?.value ?? 'text'
}

const SHORT_SEARCH = { time: 50, most: 1 }

function singular(name: string): string {
  return name.replace(/s$/, '')
}

function allParts(nodes: readonly SchemaNode[]): readonly SchemaPart[] {
  const { parts } = partsOf(nodes)
  return [
    ...parts,
    ...parts.flatMap((part) => {
      const options = [part.schema['anyOf'], part.schema['oneOf']].flatMap((list) =>
        Array.isArray(list) ? list : [],
      )
      return partsOf(options.map((schema: unknown) => ({ ...part, schema }))).parts
    }),
  ]
}

function namedSamples({ schema }: SchemaPart): readonly unknown[] {
  const { enum: listed, examples, default: usual } = schema
  return [
    ...(Object.hasOwn(schema, 'const') ? [schema['const']] : []),
    ...(Array.isArray(examples) ? examples.slice(0, 3) : []),
    ...(usual === undefined || usual === null || usual === '' || Array.isArray(usual) ? [] : [usual]),
    ...(Array.isArray(listed) ? listed.slice(0, 3) : []),
  ]
}

function typedSamples(name: string, parts: readonly SchemaPart[]): readonly unknown[] {
  const numbers = ['minimum', 'exclusiveMinimum', 'maximum'].flatMap((keyword) =>
    parts.flatMap(({ schema }) => {
      const limit = schema[keyword]
      return typeof limit === 'number' ? [keyword === 'exclusiveMinimum' ? limit + 1 : limit] : []
    }),
  )
  const formats = parts.flatMap(({ schema }) =>
    typeof schema['format'] === 'string' ? formatSamples(schema['format']).slice(0, 1) : [],
  )
  return [...formats, ...(/^[\w -]{1,40}$/.test(name) ? [name] : []), 'text', 1, ...numbers, true]
}

/** Changes arguments so that they cover a point. Returns `undefined` if they would not be valid. */
function withPoint(
  values: Readonly<Record<string, unknown>>,
  { path = [], kind, value }: CoveragePoint,
  { document, values: known }: SuggestionContext,
): Readonly<Record<string, unknown>> | undefined {
  const sample = { values: known, depth: 0 }
  const put = (
    target: unknown,
    nodes: readonly SchemaNode[],
    [name, ...rest]: readonly string[],
    last: string,
  ): unknown => {
    if (name === undefined) return kind === 'value' ? value : sampleOf(last, nodes, sample)
    const parts = allParts(nodes)
    if (name === '[]') {
      const items = Array.isArray(target) ? target : []
      return [...items, put(undefined, itemNodes(parts, items.length), rest, singular(last))]
    }
    const object = isObject(target) ? target : objectOf(nodes, sample)
    const own = parts.filter((part) => namedMembers(part).includes(name))
    return { ...object, [name]: put(member(object, name), memberNodes(own, name), rest, name) }
  }
  const changed = put(values, [document.node], path, '')
  return isObject(changed) && document.accepts(changed) !== false ? changed : undefined
}

/** Arguments that the schema rejects: without a required one, or with a value of another type. */
function invalidArguments(
  base: Readonly<Record<string, unknown>>,
  document: SchemaDocument,
): Readonly<Record<string, unknown>> | undefined {
  const { parts } = partsOf([document.node])
  const withoutOne = parts.flatMap(requiredNames).map((name) => {
    const { [name]: _, ...rest } = base
    return rest
  })
  // A text stays a text on a command line, so texts cannot be of the wrong type.
  const wrong = parts.flatMap(namedMembers).map((name) => ({ ...base, [name]: 'wrong' }))
  return [...withoutOne, ...wrong].find((values) => document.accepts(values) === false)
}
