import { jsonLeaves, decodeLeaf } from '../json/leaves.ts'
import { memberRanges, findRange, type JsonPath } from '../json/find.ts'
import { parseJson } from '../json/parse.ts'
import { decodeBase64Text } from '../correlate/base64.ts'
import type { ValueLocation } from './binding.ts'

/** A value of a message: a leaf, or what stands in the JSON or base64 that a leaf holds. */
export interface MessageValue extends ValueLocation {
  readonly text: string
  /** Whether the text was opened, so that what it holds is told apart from it. */
  readonly opened: boolean
}

/** Every string and number of a message, the ones inside JSON and base64 texts too, and the names of MRTR rounds. */
export function messageValues(text: string): readonly MessageValue[] {
  return [...leafValues(text, (path) => ({ path, inside: [] })), ...inputNameValues(text)]
}

const DEEPEST_OPENED = 3
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

function leafValues(json: string, spotAt: (path: JsonPath) => ValueLocation): readonly MessageValue[] {
  return jsonLeaves(json).flatMap((leaf) => {
    const value = { text: decodeLeaf(json, leaf), ...spotAt(leaf.path), opened: false }
    if (json[leaf.start] === '"') return openText(value)
    return LITERALS.has(value.text) ? [] : [value]
  })
}

function openText(value: MessageValue): readonly MessageValue[] {
  if (value.inside.length >= DEEPEST_OPENED) return [value]
  const json = embeddedJson(value.text)
  if (json !== undefined) return [{ ...value, opened: true }, ...embeddedJsonValues(value, json)]
  const decoded = decodeBase64Text(value.text)
  if (decoded === undefined) return [value]
  const inner = { ...value, text: decoded, inside: [...value.inside, { kind: 'base64' } as const] }
  return [{ ...value, opened: true }, ...openText(inner)]
}

/** The text, when it is a JSON object or array. */
export function embeddedJson(text: string): string | undefined {
  if (cannotStartJson(text.charCodeAt(0)) || !/^\s*[{[]/.test(text)) return undefined
  return parseJson(text) === undefined ? undefined : text
}

/** A letter, a digit or a mark that opens nothing: most texts begin with one. */
function cannotStartJson(code: number): boolean {
  return code > 0x20 && code < 0x7b && code !== 0x5b
}

function embeddedJsonValues({ path, inside }: ValueLocation, json: string): readonly MessageValue[] {
  return leafValues(json, (inner) => ({ path, inside: [...inside, { kind: 'json', path: inner }] }))
}

const INPUT_NAME_PATHS: readonly JsonPath[] = [
  ['result', 'inputRequests'],
  ['params', 'inputResponses'],
]

/** The names under which a server asks for input, and under which the client answers. */
function inputNameValues(text: string): readonly MessageValue[] {
  return INPUT_NAME_PATHS.flatMap((path) => {
    const range = findRange(text, path)
    if (range === undefined || text[range.start] !== '{') return []
    const keys = [...memberRanges(text.slice(range.start, range.end)).keys()]
    return keys.map((key, index) => ({ text: key, path, inside: [{ kind: 'key', index }], opened: false }))
  })
}
