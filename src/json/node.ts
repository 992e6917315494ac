import { itemRanges, memberRanges } from './find-replace.ts'
import { isObject, parseJson, type JsonObject } from './parse.ts'
import type { JsonRange } from './scan.ts'

/** A JSON value together with its text, so that a part of a document can be taken out in its own spelling. */
export class JsonNode {
  readonly text: string
  readonly value: unknown
  #members: ReadonlyMap<string, JsonRange> | undefined

  private constructor(text: string, value: unknown) {
    this.text = text
    this.value = value
  }

  /** Returns `undefined` if the text is not valid JSON. */
  static parse(text: string): JsonNode | undefined {
    const trimmed = text.trim()
    const value = parseJson(trimmed)
    return value === undefined ? undefined : new JsonNode(trimmed, value)
  }

  get isObject(): boolean {
    return isObject(this.value)
  }

  get isArray(): boolean {
    return Array.isArray(this.value)
  }

  get object(): JsonObject {
    return isObject(this.value) ? this.value : {}
  }

  /** A member of an object, or `undefined`. */
  get(name: string): JsonNode | undefined {
    if (!isObject(this.value) || !Object.hasOwn(this.value, name)) return undefined
    this.#members ??= memberRanges(this.text)
    const range = this.#members.get(name)
    return range && new JsonNode(this.text.slice(range.start, range.end), this.value[name])
  }

  /** The items of an array; empty for any other value. */
  items(): readonly JsonNode[] {
    const values = this.value
    if (!Array.isArray(values)) return []
    return itemRanges(this.text).map(
      ({ start, end }, index) => new JsonNode(this.text.slice(start, end), values[index]),
    )
  }

  string(name: string): string | undefined {
    const value = this.object[name]
    return typeof value === 'string' ? value : undefined
  }

  number(name: string): number | undefined {
    const value = this.object[name]
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  }
}
