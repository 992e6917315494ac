import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { whyPatternIsSlow } from '../redact/slow-patterns.ts'

export type SchemaDraft = 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12'

/** A place in a schema document. */
export interface SchemaNode {
  readonly document: SchemaDocument
  /** JSON pointer, empty for the whole document. */
  readonly pointer: string
  readonly schema: unknown
}

/**
 * A JSON Schema from a stranger, and the validators of its parts. Nothing is fetched. What cannot be decided, such as a reference to
 * another document or a pattern that could take forever, is `undefined`, never a guess.
 */
export class SchemaDocument {
  readonly draft: SchemaDraft
  readonly root: unknown
  /** Why the document cannot be used; `undefined` if it can. */
  readonly problem: string | undefined
  readonly #ajv: Ajv | undefined
  /** How programs read the document that ignore what is beside a `$ref`, as older drafts demand; `undefined` if nothing is. */
  readonly #strict: SchemaDocument | undefined
  readonly #validators = new Map<string, ValidateFunction | undefined>()
  readonly #anchors = new Map<string, string>()

  constructor(schema: unknown) {
    const { draft, root, ajv, problem } = openSchema(schema)
    this.draft = draft
    this.root = root
    this.#ajv = ajv
    if (problem === undefined && isObject(root)) collectAnchors(root, '', this.#anchors, 0)
    this.problem = problem ?? (this.#validatorAt('') === undefined ? 'it cannot be compiled' : undefined)
    const isOld = this.problem === undefined && draft.startsWith('draft-')
    const strict = isOld && isObject(schema) ? referencesAlone(schema) : schema
    this.#strict = strict === schema ? undefined : new SchemaDocument(strict)
  }

  get node(): SchemaNode {
    return { document: this, pointer: '', schema: this.root }
  }

  /** Returns `undefined` if it cannot be decided. */
  accepts(value: unknown): boolean | undefined {
    return this.acceptsAt('', value)
  }

  /** Judges a value by a part of the schema. */
  acceptsAt(pointer: string, value: unknown): boolean | undefined {
    const validate = this.#validatorAt(pointer)
    const verdict = validate && judge(validate, value)
    if (this.#strict === undefined || verdict === undefined) return verdict
    return this.#strict.acceptsAt(pointer, value) === verdict ? verdict : undefined
  }

  /** Why a value is invalid. */
  errorsOf(value: unknown): readonly ErrorObject[] {
    const validate = this.#validatorAt('')
    if (validate === undefined || judge(validate, value) !== false) return []
    return validate.errors ?? []
  }

  /** Follows a reference. Returns `undefined` if it leads out of the document or nowhere. */
  resolve(reference: string): SchemaNode | undefined {
    const pointer =
      reference.startsWith('#/') || reference === '#' ? reference.slice(1) : this.#anchors.get(reference)
    if (pointer === undefined) return undefined
    const schema = valueAtPointer(this.root, pointer)
    return schema === undefined ? undefined : { document: this, pointer, schema }
  }

  #validatorAt(pointer: string): ValidateFunction | undefined {
    if (this.#validators.has(pointer)) return this.#validators.get(pointer)
    let validate: ValidateFunction | undefined
    try {
      validate = this.#ajv?.compile({ $ref: `${DOCUMENT_ID}#${encodePointer(pointer)}` })
    } catch {
      validate = undefined // a reference that leads nowhere, an invalid pattern, nesting that exceeds the stack
    }
    this.#validators.set(pointer, validate)
    return validate
  }
}

const DOCUMENT_ID = 'urn:reelay:schema'

function encodePointer(pointer: string): string {
  return pointer.replaceAll(/[^\w/~.-]/gu, (char) => encodeURIComponent(char))
}

function judge(validate: ValidateFunction, value: unknown): boolean | undefined {
  try {
    return validate(value)
  } catch {
    return undefined // endless recursion, or a pattern that is not tried
  }
}

interface OpenedSchema {
  readonly draft: SchemaDraft
  readonly root: unknown
  readonly ajv: Ajv | undefined
  readonly problem?: string
}

/** Finds the draft of a schema. Without `$schema` it is 2020-12, or an older one if it is only valid there. */
function openSchema(schema: unknown): OpenedSchema {
  if (typeof schema === 'boolean') return { draft: '2020-12', ...compiled(schema, '2020-12') }
  if (!isObject(schema))
    return { draft: '2020-12', root: false, ajv: undefined, problem: 'it is not an object' }
  const { $schema: named } = schema
  const declared = typeof named === 'string' ? draftOf(named) : undefined
  if (named !== undefined && declared === undefined)
    return {
      draft: '2020-12',
      root: schema,
      ajv: undefined,
      problem: `its dialect ${JSON.stringify(named)} is not known`,
    }
  const drafts: readonly SchemaDraft[] =
    declared === undefined ? ['2020-12', 'draft-07', 'draft-04'] : [declared]
  const opened = drafts.map((draft) => ({ draft, ...compiled(schema, draft) }))
  return opened.find(({ problem }) => problem === undefined) ?? opened[0]!
}

function draftOf(uri: string): SchemaDraft | undefined {
  const [, name] =
    /^https?:\/\/json-schema\.org\/(draft-0[467]|draft\/20(?:19-09|20-12))\/schema#?$/u.exec(uri) ?? []
  if (name === undefined) return undefined
  return name.startsWith('draft/') ? (name.slice(6) as SchemaDraft) : (name as SchemaDraft)
}

function compiled(schema: unknown, draft: SchemaDraft): Omit<OpenedSchema, 'draft'> {
  if (isTooDeep(schema)) return { root: schema, ajv: undefined, problem: 'it is nested too deeply' }
  const root = isObject(schema)
    ? withStaticReferences(withPointers(withoutIdentity(draft === 'draft-04' ? fromDraft4(schema) : schema)))
    : schema
  const ajv = createValidatorFactory(draft)
  try {
    const validator = metaValidator(draft)
    if (isObject(root) && validator.validateSchema({ ...root, $schema: META[draft] }) !== true)
      return {
        root,
        ajv: undefined,
        problem: `it is not a valid schema: ${validator.errorsText(validator.errors, { dataVar: 'schema' })}`,
      }
    ajv.addSchema(
      isObject(root) ? { ...root, $id: DOCUMENT_ID } : { $id: DOCUMENT_ID, allOf: [root === true] },
    )
    return { root, ajv }
  } catch (error) {
    return { root, ajv: undefined, problem: error instanceof Error ? error.message : 'it cannot be compiled' }
  }
}

const META: Readonly<Record<SchemaDraft, string>> = {
  'draft-04': 'http://json-schema.org/draft-07/schema',
  'draft-06': 'http://json-schema.org/draft-07/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

/** The id of a document says where it comes from. References within it are resolved without it. */
function withoutIdentity(schema: JsonObject): JsonObject {
  const { $schema: _, $id: _id, id: old, ...rest } = schema
  return typeof old === 'string' || old === undefined ? rest : { ...rest, id: old }
}

const ROOT_URI = 'reelay-schema://document/'

/** Writes references to parts that have an `$id` of their own as pointers. Documents without such parts stay as they are. */
function withPointers(root: JsonObject): JsonObject {
  const places = new Map<string, string>([[ROOT_URI, '']])
  const collect = (schema: unknown, base: string, pointer: string): void => {
    if (!isObject(schema)) return
    const own = baseOf(schema, base, pointer)
    if (own !== base) places.set(own, pointer)
    const { $anchor: anchor } = schema
    if (typeof anchor === 'string') places.set(`${own}#${anchor}`, pointer)
    forEachSubschema(schema, (inside, segments) => collect(inside, own, pointerTo(pointer, ...segments)))
  }
  collect(root, ROOT_URI, '')
  const bases = [...places.keys()].filter((uri) => !uri.includes('#'))
  if (bases.length < 2) return root
  const rewrite = (schema: unknown, base: string, pointer: string): unknown => {
    if (!isObject(schema)) return schema
    const own = baseOf(schema, base, pointer)
    const { $id: id, $ref: reference, ...rest } = schema
    const changed: Record<string, unknown> =
      own === base && id !== undefined ? { ...rest, $id: id } : { ...rest }
    if (typeof reference === 'string') changed['$ref'] = pointedTo(reference, own, places) ?? reference
    return withSubschemas(changed, (inside, segments) =>
      rewrite(inside, own, pointerTo(pointer, ...segments)),
    )
  }
  const written = rewrite(root, ROOT_URI, '')
  return isObject(written) ? written : root
}

/**
 * Writes `$dynamicRef` and `$recursiveRef` as `$ref`. In a document of one part, with one anchor of that name, they mean the same. Documents
 * where they could mean something else stay as they are.
 */
function withStaticReferences(root: JsonObject): JsonObject {
  const anchors = new Map<string, string[]>()
  let isOnePart = true
  let isDynamic = false
  const collect = (schema: unknown, pointer: string): void => {
    if (!isObject(schema)) return
    const { $dynamicAnchor: anchor, $anchor: plain, $id: id } = schema
    for (const name of [anchor, plain])
      if (typeof name === 'string') anchors.set(name, [...(anchors.get(name) ?? []), pointer])
    isOnePart &&= pointer === '' || typeof id !== 'string' || id.startsWith('#')
    isDynamic ||= ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor'].some(
      (keyword) => schema[keyword] !== undefined,
    )
    isOnePart &&=
      schema['$ref'] === undefined || (schema['$dynamicRef'] ?? schema['$recursiveRef']) === undefined
    forEachSubschema(schema, (inside, segments) => collect(inside, pointerTo(pointer, ...segments)))
  }
  collect(root, '')
  if (!isDynamic || !isOnePart || [...anchors.values()].some((places) => places.length > 1)) return root
  const rewrite = (schema: unknown): unknown => {
    if (!isObject(schema)) return schema
    const { $dynamicRef: dynamic, $recursiveRef: recursive, $recursiveAnchor: _, ...rest } = schema
    const { $dynamicAnchor: anchor, ...plain } = rest
    const changed: Record<string, unknown> =
      anchor === undefined ? { ...rest } : { ...plain, $anchor: anchor }
    if (recursive !== undefined) changed['$ref'] = recursive
    const [place] = anchors.get(String(dynamic).slice(1)) ?? []
    if (dynamic !== undefined) changed['$ref'] = place === undefined ? dynamic : `#${encodePointer(place)}`
    return withSubschemas(changed, rewrite)
  }
  const written = rewrite(root)
  return isObject(written) ? written : root
}

/** The address against which references inside of a schema are resolved. */
function baseOf(schema: JsonObject, base: string, pointer: string): string {
  const { $id: id } = schema
  if (pointer === '' || typeof id !== 'string' || id.startsWith('#')) return base
  return resolvedUri(id.replace(/#.*$/u, ''), base) ?? base
}

function pointedTo(reference: string, base: string, places: ReadonlyMap<string, string>): string | undefined {
  const uri = resolvedUri(reference, base)
  if (uri === undefined) return undefined
  const [document = '', fragment = ''] = uri.split('#')
  if (fragment !== '' && !fragment.startsWith('/')) {
    const anchored = places.get(uri)
    return anchored === undefined ? undefined : `#${encodePointer(anchored)}`
  }
  const pointer = places.get(document)
  return pointer === undefined ? undefined : `#${encodePointer(pointer)}${fragment}`
}

function resolvedUri(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/u, '') : undefined
}

const DEEPEST = 200

function isTooDeep(schema: unknown, depth = 0): boolean {
  if (depth > DEEPEST) return true
  if (Array.isArray(schema)) return schema.some((item) => isTooDeep(item, depth + 1))
  return isObject(schema) && Object.values(schema).some((item) => isTooDeep(item, depth + 1))
}

/** Keywords that say nothing about which values are valid, also those of OpenAPI. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$defs',
  'definitions',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'discriminator',
  'externalDocs',
  'xml',
])

/** Something in the schema object, besides a reference, can make values invalid. */
export function hasAssertions(schema: JsonObject): boolean {
  return Object.keys(schema).some((keyword) => keyword !== '$ref' && !ANNOTATIONS.has(keyword))
}

/** Formats that are checked. Any other format is unknown. */
export const KNOWN_FORMATS: ReadonlySet<string> = new Set(Object.keys(fullFormats))

const metaValidators = new Map<string, Ajv>()

/** Validates schemas themselves. Compiling the rules for that takes longer than comparing two schemas, so it is done once. */
function metaValidator(draft: SchemaDraft): Ajv {
  const known = metaValidators.get(META[draft]) ?? createValidatorFactory(draft, true)
  metaValidators.set(META[draft], known)
  return known
}

function createValidatorFactory(draft: SchemaDraft, meta = false): Ajv {
  const options: Options = {
    meta,
    strict: false,
    validateSchema: false,
    logger: false,
    addUsedSchema: false,
    allErrors: false,
    ownProperties: true,
    code: { regExp: GUARDED },
  }
  const ajv: Ajv =
    draft === '2020-12' ? new Ajv2020(options) : draft === '2019-09' ? new Ajv2019(options) : new Ajv(options)
  formats.default(ajv, { mode: 'full', keywords: false })
  return ajv
}

/** A pattern that is tried only if that ends soon. */
class GuardedPattern {
  readonly #pattern: RegExp
  readonly #longest: number

  constructor(source: string) {
    this.#pattern = compilePattern(source)
    this.#longest = longestTried(this.#pattern)
  }

  /** ajv keeps patterns by this text. */
  toString(): string {
    return String(this.#pattern)
  }

  test(text: string): boolean {
    if (text.length > this.#longest) throw new Error('the pattern could take too long')
    return this.#pattern.test(text)
  }
}

/** Patterns are Unicode by the specification. Patterns of other languages are often valid only without it. */
export function compilePattern(source: string): RegExp {
  try {
    return new RegExp(source, 'u')
  } catch {
    return new RegExp(source)
  }
}

function longestTried(pattern: RegExp): number {
  if (isSlow(pattern)) return 0
  const repeats = pattern.source.match(/(?<!\\)[*+]|\{\d+,\d*\}/gu)?.length ?? 0
  return repeats > 2 ? 200 : 20_000
}

function isSlow(pattern: RegExp): boolean {
  try {
    return /\\[1-9]|\\k</u.test(pattern.source) || whyPatternIsSlow(pattern) !== undefined
  } catch {
    return true // the pattern uses something that the check cannot read
  }
}

const GUARDED = Object.assign((source: string) => new GuardedPattern(source), { code: 'guarded' })

/** Returns `undefined` if the pattern is not tried. */
export function matchesPattern(source: string, text: string): boolean | undefined {
  try {
    return new GuardedPattern(source).test(text)
  } catch {
    return undefined
  }
}

export function pointerTo(pointer: string, ...segments: readonly (string | number)[]): string {
  return segments.reduce<string>(
    (path, segment) => `${path}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    pointer,
  )
}

function valueAtPointer(root: unknown, pointer: string): unknown {
  let at: unknown = root
  for (const part of pointer.split('/').slice(1)) {
    const segment = decodeSegment(part)
    at = Array.isArray(at) ? at[Number(segment)] : member(at, segment)
    if (at === undefined) return undefined
  }
  return at
}

function decodeSegment(part: string): string {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
const SUBSCHEMAS: Readonly<Record<'one' | 'list' | 'map', ReadonlySet<string>>> = {
  one: new Set([
    'items',
    'additionalItems',
    'additionalProperties',
    'unevaluatedItems',
    'unevaluatedProperties',
    'propertyNames',
    'contains',
    'not',
    'if',
    'then',
    'else',
    'contentSchema',
  ]),
  list: new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']),
  map: new Set([
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
    'dependencies',
  ]),
}

/** Calls `visit` for each schema directly inside of another, with the segments that lead there. */
export function forEachSubschema(
  schema: JsonObject,
  visit: (inside: unknown, segments: readonly (string | number)[]) => void,
): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (SUBSCHEMAS.list.has(keyword) && Array.isArray(value))
      for (const [at, item] of value.entries()) visit(item, [keyword, at])
    else if (SUBSCHEMAS.one.has(keyword)) visit(value, [keyword])
    else if (SUBSCHEMAS.map.has(keyword) && isObject(value))
      for (const [name, item] of Object.entries(value)) if (!Array.isArray(item)) visit(item, [keyword, name])
  }
}

/** The schema with others in place of those directly inside of it. */
function withSubschemas(
  schema: JsonObject,
  replace: (inside: unknown, segments: readonly (string | number)[]) => unknown,
): JsonObject {
  const changed: Record<string, unknown> = { ...schema }
  forEachSubschema(schema, (inside, segments) => {
    const [keyword = '', at] = segments
    const written = replace(inside, segments)
    const list = changed[keyword]
    if (at === undefined) changed[keyword] = written
    else if (Array.isArray(list)) changed[keyword] = list.with(Number(at), written)
    else if (isObject(list)) changed[keyword] = { ...list, [at]: written }
  })
  return changed
}

function collectAnchors(
  schema: JsonObject,
  pointer: string,
  anchors: Map<string, string>,
  depth: number,
): void {
  if (depth > DEEPEST) return
  for (const name of ['$anchor', '$dynamicAnchor']) {
    const anchor = schema[name]
    if (typeof anchor === 'string') anchors.set(`#${anchor}`, pointer)
  }
  for (const name of ['$id', 'id']) {
    const id = schema[name]
    if (typeof id === 'string' && id.startsWith('#')) anchors.set(id, pointer)
  }
  forEachSubschema(schema, (inside, segments) => {
    if (isObject(inside)) collectAnchors(inside, pointerTo(pointer, ...segments), anchors, depth + 1)
  })
}

/** The schema without what is beside references; the same object if there is nothing. */
function referencesAlone(schema: JsonObject, depth = 0): JsonObject {
  if (depth > DEEPEST) return schema
  const { $ref: reference, $schema: dialect, definitions, $defs, ...rest } = schema
  if (typeof reference !== 'string' || !hasAssertions(rest)) {
    let isSame = true
    const changed = withSubschemas(schema, (inside) => {
      const alone = isObject(inside) ? referencesAlone(inside, depth + 1) : inside
      isSame &&= alone === inside
      return alone
    })
    return isSame ? schema : changed
  }
  const kept = { $schema: dialect, definitions, $defs }
  const defined = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  return referencesAlone({ $ref: reference, ...defined }, depth + 1)
}

/** Writes a schema of draft 4 in the words of draft 7. */
function fromDraft4(schema: JsonObject, depth = 0): JsonObject {
  if (depth > DEEPEST) return schema
  const { id, ...rest } = schema
  const changed: Record<string, unknown> = {
    ...withSubschemas(rest, (inside) => (isObject(inside) ? fromDraft4(inside, depth + 1) : inside)),
    ...(id !== undefined && { [typeof id === 'string' ? '$id' : 'id']: id }),
  }
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (changed[exclusive] === true) {
      changed[exclusive] = changed[bound]
      delete changed[bound]
    } else if (changed[exclusive] === false) delete changed[exclusive]
  }
  return changed
}
