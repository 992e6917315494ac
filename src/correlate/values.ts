import { leavesOf, leafText } from '../wire/leaves.ts'
import { membersOf, rangeAt, type Path } from '../wire/members.ts'
import { parseJson } from '../wire/parse-json.ts'
import { decodeBase64 } from './base64.ts'
import type { Spot } from './binding.ts'

/** A value of a message: a leaf, or what stands in the JSON or base64 that a leaf holds. */
export interface Value extends Spot {
  readonly text: string
  /** Whether the text was opened, so that what it holds is told apart from it. */
  readonly opened: boolean
}

/** Every string and number of a message, the ones inside JSON and base64 texts too, and the names of MRTR rounds. */
export function valuesIn(text: string): readonly Value[] {
  return [...leafValues(text, (path) => ({ path, inside: [] })), ...roundKeys(text)]
}

const DEEPEST = 3
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

function leafValues(json: string, spotAt: (path: Path) => Spot): readonly Value[] {
  return leavesOf(json).flatMap((leaf) => {
    const value = { text: leafText(json, leaf), ...spotAt(leaf.path), opened: false }
    if (json[leaf.start] === '"') return opened(value)
    return LITERALS.has(value.text) ? [] : [value]
  })
}

function opened(value: Value): readonly Value[] {
  if (value.inside.length >= DEEPEST) return [value]
  const json = jsonIn(value.text)
  if (json !== undefined) return [{ ...value, opened: true }, ...jsonValues(value, json)]
  const decoded = decodeBase64(value.text)
  if (decoded === undefined) return [value]
  const inner = { ...value, text: decoded, inside: [...value.inside, { kind: 'base64' } as const] }
  return [{ ...value, opened: true }, ...opened(inner)]
}

/** The text, when it is a JSON object or array. */
export function jsonIn(text: string): string | undefined {
  if (isPlainStart(text.charCodeAt(0)) || !/^\s*[{[]/.test(text)) return undefined
  return parseJson(text) === undefined ? undefined : text
}

/** A letter, a digit or a mark that opens nothing: most texts begin with one. */
function isPlainStart(code: number): boolean {
  return code > 0x20 && code < 0x7b && code !== 0x5b
}

function jsonValues({ path, inside }: Spot, json: string): readonly Value[] {
  return leafValues(json, (inner) => ({ path, inside: [...inside, { kind: 'json', path: inner }] }))
}

const ROUND_PATHS: readonly Path[] = [
  ['result', 'inputRequests'],
  ['params', 'inputResponses'],
]

/** The names under which a server asks for input, and under which the client answers. */
function roundKeys(text: string): readonly Value[] {
  return ROUND_PATHS.flatMap((path) => {
    const range = rangeAt(text, path)
    if (range === undefined || text[range.start] !== '{') return []
    const keys = [...membersOf(text.slice(range.start, range.end)).keys()]
    return keys.map((key, index) => ({ text: key, path, inside: [{ kind: 'key', index }], opened: false }))
  })
}
