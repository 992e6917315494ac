import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ErrorObject } from 'ajv'
import type * as Ajv from 'ajv/dist/2020.js'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { parseJson, isObject, member } from '../json/parse.ts'
import { formatPath, type PathSegment } from '../json/path.ts'
import type { Notification, Request, Response } from '../protocol/message.ts'
import { schemaVersionOf } from '../protocol/revisions/index.ts'

/** Validates messages of a server by the official schemas. A schema is read when it is first needed, and compiled only to describe errors. */
export class OfficialValidators {
  readonly #onAbsent: (revision: string) => void
  readonly #known = new Map<string, LoadedSchema | undefined>()

  constructor(onAbsent: (revision: string) => void) {
    this.#onAbsent = onAbsent
  }

  /** The errors of an answer; none if the schema does not define the answer. */
  errorsInAnswer(answer: Response, method: string, revision: string | undefined): readonly ErrorObject[] {
    const known = this.#knownFor(revision)
    const name = known?.definitions.answerDefinition(method, answer)
    if (known === undefined || name === undefined) return []
    return errorsOf(known, {
      name,
      validator: known.official.answerValidators[name],
      value: subjectOf(answer),
    })
  }

  /** The errors of a notification or request of the server. */
  errorsInMessage(message: Request | Notification, revision: string | undefined): readonly ErrorObject[] {
    const known = this.#knownFor(revision)
    const name = known?.definitions.messageDefinition(message.method)
    if (known === undefined || name === undefined) return []
    return errorsOf(known, {
      name,
      validator: known.official.messageValidators()[name],
      value: messageOf(message),
    })
  }

  #knownFor(revision: string | undefined): LoadedSchema | undefined {
    const official = schemaVersionOf(revision)
    return official === undefined ? undefined : this.#schemaOf(official)
  }

  #schemaOf(revision: string): LoadedSchema | undefined {
    if (!this.#known.has(revision)) this.#known.set(revision, this.#read(revision))
    return this.#known.get(revision)
  }

  #read(revision: string): LoadedSchema | undefined {
    const official = officialSchema(revision)
    if (official === undefined) this.#onAbsent(revision)
    return official && { official, definitions: new OfficialDefinitions(official.schema), ajv: undefined }
  }
}

interface LoadedSchema {
  readonly official: OfficialSchema
  readonly definitions: OfficialDefinitions
  ajv: Ajv2020 | undefined
}

interface Subject {
  /** Name of the definition. */
  readonly name: string
  readonly validator: ((value: unknown) => boolean) | undefined
  readonly value: unknown
}

function errorsOf(known: LoadedSchema, { name, validator, value }: Subject): readonly ErrorObject[] {
  if (validator === undefined || passesSchema(validator, value)) return []
  known.ajv ??= ajvWith(known.official)
  return errorsBy(known.ajv, known.definitions.pointerTo(name), value)
}

function messageOf({ method, params, ...rest }: Request | Notification): unknown {
  const id = rest.kind === 'request' ? { id: rest.id } : {}
  return { jsonrpc: '2.0', ...id, method, ...(params !== undefined && { params }) }
}

/** The definition of an error includes the message around it. */
function subjectOf({ id, outcome }: Response): unknown {
  return 'result' in outcome ? outcome.result : { jsonrpc: '2.0', ...(id !== null && { id }), ...outcome }
}

const ID = 'urn:reelay:official'

/** The official schemas are known to be valid, and checking them costs more than using them. */
const IS_CHECKED = false

function ajvWith({ schema }: OfficialSchema): Ajv2020 {
  // The keywords of the older schemas mean the same in this dialect.
  const members = Object.entries(schema).filter(([name]) => name !== '$schema')
  const known = { ...Object.fromEntries(members), $id: ID }
  return createAjv().addSchema(known, undefined, undefined, IS_CHECKED)
}

function errorsBy(ajv: Ajv2020, pointer: string, value: unknown): readonly ErrorObject[] {
  const validate = ajv.getSchema(`${ID}${pointer}`)
  if (validate === undefined || passesSchema(validate, value)) return []
  return intendedErrors(validate.errors ?? [], (reference, part) => errorsBy(ajv, reference, part))
}

/** Finds the definitions of answers and other messages in an official schema. */
class OfficialDefinitions {
  readonly #holder: '$defs' | 'definitions'
  readonly #definitions: object
  /** The definition of the result of each method. */
  readonly #results: ReadonlyMap<string, string>
  /** The definition of each notification and request of a server, by method. */
  readonly #messages: ReadonlyMap<string, string>

  constructor(schema: object) {
    this.#holder = '$defs' in schema ? '$defs' : 'definitions'
    const definitions = member(schema, this.#holder)
    this.#definitions = isObject(definitions) ? definitions : {}
    this.#results = new Map(Object.entries(this.#definitions).flatMap(resultOfRequest))
    this.#messages = new Map(
      ['ServerNotification', 'ServerRequest'].flatMap((union) => this.#membersOf(union)),
    )
  }

  /** Returns the name of the definition; `undefined` if there is none. */
  answerDefinition(method: string, { outcome }: Response): string | undefined {
    const names =
      'result' in outcome
        ? [kindOf(outcome.result, this.#results.get(method))]
        : ['JSONRPCErrorResponse', 'JSONRPCError']
    return names.find((one) => one !== undefined && Object.hasOwn(this.#definitions, one))
  }

  messageDefinition(method: string): string | undefined {
    return this.#messages.get(method)
  }

  pointerTo(name: string): string {
    return `#/${this.#holder}/${name}`
  }

  #membersOf(union: string): readonly (readonly [string, string])[] {
    const all = member(member(this.#definitions, union), 'anyOf')
    return (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
      const name = String(member(one, '$ref')).split('/').at(-1) ?? ''
      const method = methodOf(member(this.#definitions, name))
      return typeof method === 'string' ? [[method, name] as const] : []
    })
  }
}

/** `CallToolRequest` contains the method, and its result is `CallToolResult`. */
function resultOfRequest([name, definition]: [string, unknown]): readonly (readonly [string, string])[] {
  const method = methodOf(definition)
  return typeof method === 'string' && name.endsWith('Request')
    ? [[method, name.replace(/Request$/, 'Result')]]
    : []
}

function methodOf(definition: unknown): unknown {
  return member(member(member(definition, 'properties'), 'method'), 'const')
}

/** A result that states another kind is validated as that kind; kinds of extensions are not validated. */
function kindOf(result: unknown, own: string | undefined): string | undefined {
  const type = member(result, 'resultType')
  if (type === 'input_required') return 'InputRequiredResult'
  if (type !== undefined && type !== 'complete') return undefined
  return own === 'CallToolResult' && isObject(member(result, 'task')) ? 'CreateTaskResult' : own
}

/** Validates a value by the definition at a reference. */
type ValidateReference = (reference: string, value: unknown) => readonly ErrorObject[]

/** Reduces the errors of a union of definitions to those of the definition that was probably intended. */
function intendedErrors(errors: readonly ErrorObject[], validate: ValidateReference): readonly ErrorObject[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf' && !isWithin(error, errors))
  const outside = errors.filter((error) => !unions.some((union) => isAt(error, union.instancePath)))
  return [...outside, ...unions.flatMap((union) => ofAlternative(union, validate))]
}

function isWithin({ instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  return errors.some(
    (other) => other.keyword === 'anyOf' && instancePath.startsWith(`${other.instancePath}/`),
  )
}

function isAt({ instancePath }: ErrorObject, place: string): boolean {
  return instancePath === place || instancePath.startsWith(`${place}/`)
}

/** The intended definition is the one with the fewest errors whose constant members, such as `type`, match. */
function ofAlternative(union: ErrorObject, validate: ValidateReference): readonly ErrorObject[] {
  const all: readonly unknown[] = Array.isArray(union.schema) ? union.schema : []
  const found = all
    .map((one) => member(one, '$ref'))
    .filter((reference) => typeof reference === 'string')
    .map((reference) => validate(reference, union.data))
    .filter((errors) => !errors.some(isOfAnother))
    .toSorted((a, b) => a.length - b.length)[0]
  if (found === undefined) return [union]
  return found.map((error) => ({ ...error, instancePath: `${union.instancePath}${error.instancePath}` }))
}

function isOfAnother({ keyword, instancePath }: ErrorObject): boolean {
  return keyword === 'const' && instancePath.lastIndexOf('/') === 0
}

/** The kind of an error, independent of its place, because items move and names change. */
export function kindOfError({ schemaPath, message }: ErrorObject): string {
  return `${schemaPath} ${message}`
}

/** The path of an error, as options such as `ignore` take it. */
export function schemaErrorPath(root: readonly PathSegment[], { instancePath }: ErrorObject): string {
  return formatPath([...root, ...instancePath.split('/').slice(1).map(segmentOf)])
}

// A JSON pointer does not distinguish a member with a numeric name from an item of a list.
function segmentOf(part: string): PathSegment {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(name) ? Number(name) : name
}

/** Returns true if a value is valid. A value that is nested too deeply to be validated counts as valid. */
export function passesSchema(validate: (value: unknown) => unknown, value: unknown): boolean {
  try {
    return validate(value) === true
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}

/** Loads Ajv on demand, because most runs do not need it. */
export function createAjv(): Ajv.Ajv2020 {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof Ajv
  return new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false, validateFormats: false })
}

/** An official schema, with compiled validators that tell whether a value is valid, but not why. */
export interface OfficialSchema {
  readonly schema: Readonly<Record<string, unknown>>
  readonly answerValidators: Validators
  /** Validators of notifications and requests of a server, loaded on demand because most servers send none. */
  readonly messageValidators: () => Validators
}

type Validators = Readonly<Record<string, (value: unknown) => boolean>>

/** Reads the official schema of a revision, which the build puts into the package. Returns `undefined` if it is missing. */
export function officialSchema(revision: string): OfficialSchema | undefined {
  try {
    const schema = parseJson(readFileSync(new URL(`mcp-${revision}.json`, FOLDER), 'utf8'))
    const answerValidators = loadValidators(`mcp-${revision}.cjs`)
    return isObject(schema)
      ? { schema, answerValidators, messageValidators: () => messageValidatorsOf(revision) }
      : undefined
  } catch {
    return undefined // a bundle may not contain the file; the report then says that answers are not validated
  }
}

function messageValidatorsOf(revision: string): Validators {
  try {
    return loadValidators(`mcp-${revision}-words.cjs`)
  } catch {
    return {} // older builds do not have these validators
  }
}

function loadValidators(file: string): Validators {
  const validators: unknown = createRequire(FOLDER)(`./${file}`)
  return validators as Validators
}

// This path is the same for the library, the packed program and the source, because all of them are two folders deep.
const FOLDER = new URL('../../dist/schema/', import.meta.url)
