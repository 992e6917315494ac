import { jsonLeaves } from './find-replace.ts'
import { parseJson } from './parse.ts'
import type { JsonPath } from './path.ts'

/** Parses JSON. Numbers that JavaScript cannot represent exactly become an `ExactNumber`. */
export function parseExactJson(text: string): unknown {
  const value = parseJson(text)
  if (value === undefined || !LONG_NUMBER.test(text)) return value
  return withExactNumbers(text, value)
}

/** A number that JavaScript cannot represent exactly, kept as it is spelled. */
export class ExactNumber {
  readonly spelling: string

  constructor(spelling: string) {
    this.spelling = spelling
  }

  toJSON(): string {
    return this.spelling
  }
}

// Only a quick check: the digits may also be part of a string.
const LONG_NUMBER = /\d{16}|\d\.?\d*[eE]\+?\d{2}/

function withExactNumbers(text: string, value: unknown): unknown {
  const root = { value }
  for (const { path, start, end } of jsonLeaves(text)) {
    const spelling = text.slice(start, end)
    if (losesPrecision(spelling)) setLeaf(root, ['value', ...path], new ExactNumber(spelling))
  }
  return root.value
}

function losesPrecision(spelling: string): boolean {
  return /^-?\d/.test(spelling) && !Number.isSafeInteger(Math.trunc(Number(spelling)))
}

function setLeaf(root: object, path: JsonPath, leaf: ExactNumber): void {
  const holder: unknown = path.slice(0, -1).reduce<unknown>((at, step) => Reflect.get(Object(at), step), root)
  const last = path.at(-1)
  if (typeof holder !== 'object' || holder === null || last === undefined) return
  Object.defineProperty(holder, last, { value: leaf, enumerable: true, configurable: true, writable: true })
}

/** Parses two texts. Returns `undefined` unless both are JSON objects or arrays. */
export function parseJsonPair(
  expected: string,
  actual: string,
): { readonly expected: unknown; readonly actual: unknown } | undefined {
  if (!STARTS_CONTAINER.test(expected) || !STARTS_CONTAINER.test(actual)) return undefined
  const values = { expected: parseExactJson(expected), actual: parseExactJson(actual) }
  return values.expected === undefined || values.actual === undefined ? undefined : values
}

const STARTS_CONTAINER = /^\s*[{[]/
