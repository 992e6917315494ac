import { leavesOf } from '../wire/leaves.ts'
import type { Path } from '../wire/members.ts'
import { parseJson } from '../wire/parse-json.ts'
import { ExactNumber } from './difference.ts'

/** The value of a JSON text, numbers beyond 2^53 kept by their spelling; undefined when it is no JSON. */
export function readJson(text: string): unknown {
  const value = parseJson(text)
  if (value === undefined || !LONG_NUMBER.test(text)) return value
  return exact(text, value)
}

// Sixteen digits in a row may stand in a string too: then nothing is found below.
const LONG_NUMBER = /\d{16}|\d\.?\d*[eE]\+?\d{2}/

function exact(text: string, value: unknown): unknown {
  const root = { value }
  for (const { path, start, end } of leavesOf(text)) {
    const spelling = text.slice(start, end)
    if (isInexact(spelling)) put(root, ['value', ...path], new ExactNumber(spelling))
  }
  return root.value
}

function isInexact(spelling: string): boolean {
  return /^-?\d/.test(spelling) && !Number.isSafeInteger(Math.trunc(Number(spelling)))
}

function put(root: object, path: Path, leaf: ExactNumber): void {
  const holder: unknown = path.slice(0, -1).reduce<unknown>((at, step) => Reflect.get(Object(at), step), root)
  const last = path.at(-1)
  if (typeof holder !== 'object' || holder === null || last === undefined) return
  Object.defineProperty(holder, last, { value: leaf, enumerable: true, configurable: true, writable: true })
}
