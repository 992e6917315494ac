import { leavesOf, leafText } from '../wire/leaves.ts'
import { membersOf, rangeAt, type Path } from '../wire/members.ts'
import { parseJson } from '../wire/parse-json.ts'
import { decodeBase64 } from './base64.ts'
import type { Lens } from './binding.ts'

/** A value of a message: a leaf, or what stands in the JSON or base64 that a leaf holds. */
export interface Value {
  readonly text: string
  readonly path: Path
  readonly inside: readonly Lens[]
  /** Whether the text was opened, so that what it holds is told apart from it. */
  readonly opened: boolean
}

/** Every string and number of a message, the ones inside JSON and base64 texts too, and the names of MRTR rounds. */
export function valuesIn(text: string): readonly Value[] {
  return [...leavesOf(text).flatMap((leaf) => valuesAt(text, leaf)), ...roundKeys(text)]
}

const DEEPEST = 3
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

function valuesAt(text: string, leaf: ReturnType<typeof leavesOf>[number]): readonly Value[] {
  const isString = text[leaf.start] === '"'
  const said = leafText(text, leaf)
  if (!isString) return LITERALS.has(said) ? [] : [{ text: said, path: leaf.path, inside: [], opened: false }]
  return opened({ text: said, path: leaf.path, inside: [], opened: false })
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
  if (!/^\s*[{[]/.test(text)) return undefined
  return parseJson(text) === undefined ? undefined : text
}

function jsonValues(outer: Value, json: string): readonly Value[] {
  return leavesOf(json).flatMap((leaf) =>
    valuesAt(json, leaf)
      .slice(0, 1)
      .flatMap(({ text, path }) => {
        const inside: Lens[] = [...outer.inside, { kind: 'json', path }]
        const value = { text, path: outer.path, inside, opened: false }
        return json[leaf.start] === '"' ? opened(value) : [value]
      }),
  )
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
