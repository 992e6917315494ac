import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'
import {
  ANNOTATIONS,
  forEachSubschema,
  hasAssertions,
  KNOWN_FORMATS,
  matchesPattern,
  pointerTo,
  SchemaDocument,
  type SchemaDraft,
  type SchemaNode,
} from './schema-document.ts'

/** A schema object without its references: what it says itself. */
export interface SchemaPart extends SchemaNode {
  readonly schema: JsonObject
}

/** Schemas that all apply to the same value, taken apart into what each of them says. */
export interface SchemaParts {
  readonly parts: readonly SchemaPart[]
  /** One of the schemas is `false`. */
  readonly isNever: boolean
  /** Why it is not known what the schemas say. */
  readonly stopped?: string
}

/** Follows `$ref` and `allOf`. */
export function partsOf(nodes: readonly SchemaNode[]): SchemaParts {
  const parts = new Map<string, SchemaPart>()
  const ids = new Map<SchemaDocument, number>()
  let isNever = false
  let stopped: string | undefined
  const active = new Set<string>()
  const visit = (node: SchemaNode, depth: number): void => {
    const { document, pointer, schema } = node
    if (schema === true || stopped !== undefined) return
    if (schema === false) {
      isNever = true
      return
    }
    if (!isObject(schema)) return void (stopped = 'it is not a schema')
    if (depth > DEEPEST_REFERENCES) return void (stopped = 'its references do not end')
    if (!ids.has(document)) ids.set(document, ids.size)
    const key = `${ids.get(document)}#${pointer}`
    if (active.has(key)) return void (stopped = 'a reference leads to itself')
    if (parts.has(key)) return
    parts.set(key, { document, pointer, schema })
    active.add(key)
    const { $ref: reference, allOf, not } = schema
    if (not === true || (isObject(not) && Object.keys(not).length === 0)) isNever = true
    if (reference !== undefined) {
      const target = typeof reference === 'string' ? document.resolve(reference) : undefined
      if (target === undefined)
        return void (stopped = `the reference ${JSON.stringify(reference)} is not followed`)
      if (isOldDraft(document.draft) && hasAssertions(schema))
        return void (stopped = 'keywords beside $ref mean different things to different programs')
      visit(target, depth + 1)
    }
    if (Array.isArray(allOf))
      for (const [at, item] of allOf.entries())
        visit({ document, pointer: pointerTo(pointer, 'allOf', at), schema: item as unknown }, depth + 1)
    active.delete(key)
  }
  for (const node of nodes) visit(node, 0)
  return { parts: [...parts.values()], isNever, ...(stopped !== undefined && { stopped }) }
}

const DEEPEST_REFERENCES = 100

function isOldDraft(draft: SchemaDraft): boolean {
  return draft.startsWith('draft-')
}

const BASIC = [
  'type',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'properties',
  'patternProperties',
  'additionalProperties',
  'required',
  'minProperties',
  'maxProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  '$ref',
  'dependencies',
]
const DRAFT_6 = [...BASIC, 'additionalItems', 'const', 'contains', 'propertyNames']
const DRAFT_7 = [...DRAFT_6, 'if', 'then', 'else']
const DRAFT_2019 = [
  ...DRAFT_7.filter((keyword) => keyword !== 'dependencies'),
  'dependentRequired',
  'dependentSchemas',
  'minContains',
  'maxContains',
  'unevaluatedProperties',
  'unevaluatedItems',
]
const DRAFT_2020 = [...DRAFT_2019.filter((keyword) => keyword !== 'additionalItems'), 'prefixItems']

const KNOWN_KEYWORDS: Readonly<Record<SchemaDraft, ReadonlySet<string>>> = {
  'draft-04': new Set([...BASIC, 'additionalItems']),
  'draft-06': new Set(DRAFT_6),
  'draft-07': new Set(DRAFT_7),
  '2019-09': new Set(DRAFT_2019),
  '2020-12': new Set(DRAFT_2020),
}

/** The first keyword or format of a schema object, without what is inside of it, that is not known; `undefined` if all are. */
export function unknownKeyword({ document, pointer, schema }: SchemaPart): string | undefined {
  const known = KNOWN_KEYWORDS[document.draft]
  const id = schema['$id']
  if (pointer !== '' && typeof id === 'string' && !id.startsWith('#'))
    return `the nested $id ${JSON.stringify(id)}`
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'format' && !(typeof value === 'string' && KNOWN_FORMATS.has(value)))
      return `the format ${JSON.stringify(value)}`
    if (!known.has(keyword) && !ANNOTATIONS.has(keyword)) return `the keyword ${JSON.stringify(keyword)}`
  }
  return undefined
}

/** Like `unknownKeyword`, for everything inside of a schema too. Also finds what only the prover does not know. */
export function unknownInside(node: SchemaNode): string | undefined {
  const seen = new Set<string>()
  const visit = ({ document, pointer, schema }: SchemaNode): string | undefined => {
    if (!isObject(schema) || seen.has(pointer)) return undefined
    seen.add(pointer)
    const own = unknownKeyword({ document, pointer, schema })
    if (own !== undefined) return own
    const { $ref: reference } = schema
    if (typeof reference === 'string') {
      const target = document.resolve(reference)
      const found = target === undefined ? `the reference ${JSON.stringify(reference)}` : visit(target)
      if (found !== undefined) return found
    }
    let found: string | undefined
    forEachSubschema(schema, (inside, segments) => {
      if (segments[0] !== '$defs' && segments[0] !== 'definitions')
        found ??= visit({ document, pointer: pointerTo(pointer, ...segments), schema: inside })
    })
    return found
  }
  return visit(node)
}

const knownWords = new WeakMap<object, string>()

/** A text that is equal for schemas that say the same in the same words; `undefined` if the schema refers to others. */
export function sameWords(schema: unknown): string | undefined {
  const known = isObject(schema) ? knownWords.get(schema) : undefined
  const text = known ?? canonicalJson(withoutAnnotations(schema, 0))
  if (isObject(schema)) knownWords.set(schema, text)
  return /"\$(?:ref|dynamicRef|recursiveRef)":/u.test(text) ? undefined : text
}

/** The schema without titles, descriptions and the like. Order in `required`, `enum` and `type` does not count. */
export function withoutAnnotations(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > 200) return schema
  const kept: Record<string, unknown> = {}
  const inside = new Map<string, [readonly (string | number)[], unknown][]>()
  forEachSubschema(schema, (value, segments) => {
    const keyword = String(segments[0])
    inside.set(keyword, [...(inside.get(keyword) ?? []), [segments, withoutAnnotations(value, depth + 1)]])
  })
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword) && keyword !== '$defs' && keyword !== 'definitions') continue
    const own = inside.get(keyword)
    if (own === undefined)
      kept[keyword] = SETS.has(keyword) && Array.isArray(value) ? sortedItems(value) : value
    else if (Array.isArray(value)) kept[keyword] = own.map(([, item]) => item)
    else if (own[0]?.[0].length === 1) kept[keyword] = own[0][1]
    else if (isObject(value))
      kept[keyword] = {
        ...value,
        ...Object.fromEntries(own.map(([segments, item]) => [String(segments[1]), item])),
      }
  }
  return kept
}

const SETS: ReadonlySet<string> = new Set(['required', 'enum', 'type'])

function sortedItems(items: readonly unknown[]): readonly unknown[] {
  const keyed = items.map((item) => ({ item, key: canonicalJson(item) }))
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ item }) => item)
}

/** The types of JSON values. Numbers are whole or not. */
export type SchemaValueType = 'null' | 'boolean' | 'string' | 'integer' | 'fraction' | 'array' | 'object'
export const ALL_TYPES: readonly SchemaValueType[] = [
  'null',
  'boolean',
  'string',
  'integer',
  'fraction',
  'array',
  'object',
]

export function typesNamed(type: unknown): ReadonlySet<SchemaValueType> {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type]
  return new Set(
    names.flatMap((name) =>
      name === 'number' ? (['integer', 'fraction'] as const) : ALL_TYPES.filter((each) => each === name),
    ),
  )
}

/** The child schemas that apply to a member, by each part. `isForbidden` if there can be no such member. */
export function memberNodes(parts: readonly SchemaPart[], name: string): readonly SchemaNode[] {
  return parts.flatMap((part) => memberNodesOf(part, name))
}

function memberNodesOf(part: SchemaPart, name: string): readonly SchemaNode[] {
  const { properties, patternProperties, additionalProperties } = part.schema
  const found: SchemaNode[] = []
  if (isObject(properties) && Object.hasOwn(properties, name))
    found.push(childNode(part, properties[name], 'properties', name))
  let isUncertain = false
  for (const [pattern, schema] of Object.entries(isObject(patternProperties) ? patternProperties : {})) {
    const matches = matchesPattern(pattern, name)
    if (matches === true) found.push(childNode(part, schema, 'patternProperties', pattern))
    isUncertain ||= matches === undefined
  }
  if (found.length === 0 && !isUncertain && additionalProperties !== undefined)
    found.push(childNode(part, additionalProperties, 'additionalProperties'))
  return found
}

export function childNode(
  part: SchemaPart,
  schema: unknown,
  ...segments: readonly (string | number)[]
): SchemaNode {
  return { document: part.document, pointer: pointerTo(part.pointer, ...segments), schema }
}

/** The schemas of the items of a list: those of the first items, and the one of the rest. */
export function itemSchemas(part: SchemaPart): {
  readonly first: readonly SchemaNode[]
  readonly rest: SchemaNode | undefined
} {
  const { prefixItems, items, additionalItems } = part.schema
  const isTuple = Array.isArray(items)
  const list: readonly unknown[] = isTuple
    ? items
    : Array.isArray(prefixItems) && part.document.draft === '2020-12'
      ? prefixItems
      : []
  const first = list.map((schema, at) => childNode(part, schema, isTuple ? 'items' : 'prefixItems', at))
  const rest = isTuple ? additionalItems : items
  return {
    first,
    rest: rest === undefined ? undefined : childNode(part, rest, isTuple ? 'additionalItems' : 'items'),
  }
}

export function itemNodes(parts: readonly SchemaPart[], index: number): readonly SchemaNode[] {
  return parts.flatMap((part) => {
    const { first, rest } = itemSchemas(part)
    const node = first[index] ?? rest
    return node === undefined ? [] : [node]
  })
}

/** The members that a schema object names. */
export function namedMembers({ schema }: SchemaPart): readonly string[] {
  return isObject(schema['properties']) ? Object.keys(schema['properties']) : []
}

export function requiredNames({ schema }: SchemaPart): readonly string[] {
  return texts(schema['required'])
}

export function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export function entriesOf(map: unknown): readonly (readonly [string, unknown])[] {
  return isObject(map) ? Object.entries(map) : []
}
