import { ReelayError } from '../errors.ts'
import { isObject, member, parseJson, type JsonObject } from '../json/parse.ts'
import { SchemaDocument } from '../schemas/schema-document.ts'
import {
  memberNodes,
  namedMembers,
  partsOf,
  requiredNames,
  texts,
  typesNamed,
} from '../schemas/schema-parts.ts'
import { quoteShellWord, similarName } from '../text.ts'

/** A tool as `tools/list` describes it. */
export interface ListedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly annotations?: unknown
}

export function toolsInLists(results: readonly unknown[]): readonly ListedTool[] {
  return results.flatMap((result) => {
    const tools = member(result, 'tools')
    return Array.isArray(tools) ? tools.filter(isListedTool) : []
  })
}

function isListedTool(tool: unknown): tool is ListedTool {
  return isObject(tool) && typeof tool['name'] === 'string'
}

export interface ReadArguments {
  readonly values: JsonObject
  /** What is odd about the arguments, although they are sent. */
  readonly notes: readonly string[]
}

/**
 * Reads `key=value` and `key:=json`. The value after `=` gets the type that the schema of the tool asks for: it is the text
 * itself if that is valid, otherwise the JSON value.
 */
export function readArguments(words: readonly string[], tool: ListedTool): ReadArguments {
  const schema = new InputSchema(tool)
  const values: Record<string, unknown> = {}
  const notes: string[] = []
  for (const word of words) {
    const { key, text, isJson } = splitWord(word)
    if (Object.hasOwn(values, key))
      throw usage(`the argument ${key} is given twice`, 'write a list as JSON, as in tags=\'["a","b"]\'')
    if (!schema.isKnown(key)) notes.push(schema.unknownNote(key))
    const value = isJson ? jsonValue(word, text) : schema.typed(key, text)
    // Plain assignment would change the prototype for the key "__proto__".
    Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return { values, notes }
}

function splitWord(word: string): { readonly key: string; readonly text: string; readonly isJson: boolean } {
  const at = word.indexOf('=')
  if (at <= 0)
    throw usage(
      `${JSON.stringify(word)} is not an argument`,
      asWords(parseJson(word)) ?? 'write key=value, or key:=<JSON> for a JSON value',
    )
  const isJson = word[at - 1] === ':' && at > 1
  return { key: word.slice(0, isJson ? at - 1 : at), text: word.slice(at + 1), isJson }
}

/** All arguments as one JSON object, as `reelay call` takes them. */
function asWords(json: unknown): string | undefined {
  if (!isObject(json) || Object.keys(json).length === 0) return undefined
  const words = Object.entries(json).map(([key, value]) =>
    quoteShellWord(typeof value === 'string' ? `${key}=${value}` : `${key}:=${JSON.stringify(value)}`),
  )
  return `write each argument alone: ${words.join(' ')}`
}

function jsonValue(word: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(
      `the value of ${JSON.stringify(word)} is not JSON`,
      'quote it for the shell, as in filter:=\'{"status":"open"}\'; a text needs no JSON: name=value',
    )
  }
}

/** What the input schema of a tool says about each argument. */
export class InputSchema {
  readonly #tool: string
  readonly #document: SchemaDocument

  constructor({ name, inputSchema }: ListedTool) {
    this.#tool = name
    this.#document = new SchemaDocument(isObject(inputSchema) ? inputSchema : {})
  }

  get names(): readonly string[] {
    return [...new Set(this.#parts().flatMap(namedMembers))]
  }

  get required(): readonly string[] {
    return [...new Set(this.#parts().flatMap(requiredNames))]
  }

  isKnown(key: string): boolean {
    const { names } = this
    return names.length === 0 || names.includes(key)
  }

  unknownNote(key: string): string {
    const similar = similarName(key, this.names)
    const guess = similar === undefined ? `; it has ${this.names.join(', ')}` : `; did you mean ${similar}?`
    return `the schema of ${this.#tool} has no argument ${key}${guess}`
  }

  /** The value for a text of the command line. */
  typed(key: string, text: string): unknown {
    const json = parseJson(text)
    // A schema that says nothing accepts both; then only lists and objects are taken as JSON.
    if (!this.#rejects(key, text))
      return isContainer(json) && !this.#rejects(key, json) && !this.#isText(key) ? json : text
    if (json !== undefined && !this.#rejects(key, json)) return json
    throw usage(
      `the argument ${key} of ${this.#tool} cannot be ${JSON.stringify(text)}: it has to be ${this.describe(key) ?? 'valid by its schema'}`,
      `to send it anyway, write it as JSON: ${key}:=${quoted(json === undefined ? JSON.stringify(text) : text)}`,
    )
  }

  /** The type of an argument in a few words, such as `integer` or `"asc" or "desc"`. */
  describe(key: string): string | undefined {
    const described = new Set(
      partsOf(memberNodes(this.#parts(), key)).parts.flatMap(({ schema }) => {
        const { type, enum: choices, const: only, anyOf, oneOf } = schema
        const alternatives = [anyOf, oneOf].flatMap((each) =>
          Array.isArray(each) ? (each as unknown[]) : [],
        )
        if (alternatives.length > 0) return alternatives.flatMap((each) => texts([member(each, 'type')]))
        if (Array.isArray(choices)) return choices.map((each) => JSON.stringify(each))
        if (only !== undefined) return [JSON.stringify(only)]
        return typeof type === 'string' ? [type] : texts(type)
      }),
    )
    const words = [...described]
    return words.length === 0 ? undefined : words.slice(0, MOST_CHOICES).join(' or ')
  }

  #isText(key: string): boolean {
    return partsOf(memberNodes(this.#parts(), key)).parts.some(
      ({ schema }) => schema['type'] !== undefined && typesNamed(schema['type']).has('string'),
    )
  }

  #rejects(key: string, value: unknown): boolean {
    // An argument that the schema forbids is sent all the same, with a note: the server decides.
    return memberNodes(this.#parts(), key).some(
      ({ document, pointer, schema }) => schema !== false && document.acceptsAt(pointer, value) === false,
    )
  }

  #parts(): ReturnType<typeof partsOf>['parts'] {
    return partsOf([this.#document.node]).parts
  }
}

const MOST_CHOICES = 12

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function quoted(json: string): string {
  return `'${json.replaceAll("'", String.raw`'\''`)}'`
}

function usage(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
