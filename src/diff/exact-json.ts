import { ExactNumber } from './difference.ts'
import type { JsonPath } from '../json/find.ts'
import { jsonLeaves } from '../json/leaves.ts'
import { parseJson } from '../json/parse.ts'

/** The value of a JSON text, numbers beyond 2^53 kept by their spelling; undefined when it is no JSON. */
export function parseExactJson(text: string): unknown {
  const value = parseJson(text)
  if (value === undefined || !LONG_NUMBER.test(text)) return value
  return withExactNumbers(text, value)
}

// Sixteen digits in a row may stand in a string too: then nothing is found below.
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

/** The values of two texts that are both JSON objects or arrays: they are compared as what they mean. */
export function parseJsonPair(
  expected: string,
  actual: string,
): { readonly expected: unknown; readonly actual: unknown } | undefined {
  if (!STARTS_CONTAINER.test(expected) || !STARTS_CONTAINER.test(actual)) return undefined
  const values = { expected: parseExactJson(expected), actual: parseExactJson(actual) }
  return values.expected === undefined || values.actual === undefined ? undefined : values
}

const STARTS_CONTAINER = /^\s*[{[]/
