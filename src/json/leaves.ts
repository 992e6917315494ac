import { decodeString } from './find.ts'
import type { JsonPath } from './path.ts'
import { endOfScalar, endOfString, type JsonRange } from './scan.ts'

/** A string, number or literal in a JSON text. */
export interface JsonLeaf extends JsonRange {
  readonly path: JsonPath
}

// A path costs memory for each of its steps, so leaves of deeper, possibly hostile nesting are left out.
const MAX_LEAF_DEPTH = 64

/** The leaves of a text that JSON.parse has accepted, in the order of the text. */
export function jsonLeaves(text: string): readonly JsonLeaf[] {
  const leaves: JsonLeaf[] = []
  forEachToken(text, ({ kind, start, end, path }) => {
    if (kind !== 'key' && path.length <= MAX_LEAF_DEPTH) leaves.push({ path: [...path], start, end })
  })
  return leaves
}

/** Decodes a string. Numbers and literals are returned as they are spelled. */
export function decodeLeaf(text: string, leaf: JsonRange): string {
  return text[leaf.start] === '"' ? decodeString(text, leaf) : text.slice(leaf.start, leaf.end)
}

/** A key or a leaf of a JSON text. */
export interface JsonToken extends JsonRange {
  readonly kind: 'key' | 'string' | 'number' | 'literal'
  /** The path to the value. It changes with the next token: copy it to keep it. */
  readonly path: JsonPath
}

/** Visits the keys and leaves of a text that JSON.parse has accepted, in order and without recursion. */
export function forEachToken(text: string, visit: (token: JsonToken) => void): void {
  const path: (string | number)[] = []
  let isKeyNext = false
  for (let at = 0; at < text.length;) {
    const char = text[at]!
    if (char === '"') {
      const end = endOfString(text, at)
      if (isKeyNext) path[path.length - 1] = decodeString(text, { start: at, end })
      visit({ kind: isKeyNext ? 'key' : 'string', start: at, end, path })
      isKeyNext = false
      at = end
    } else if (STRUCTURE.includes(char)) {
      isKeyNext = updatePath(path, char, isKeyNext)
      at++
    } else {
      const end = endOfScalar(text, at)
      visit({ kind: LITERAL_START.includes(char) ? 'literal' : 'number', start: at, end, path })
      at = end
    }
  }
}

const STRUCTURE = '{}[],: \t\r\n'
const LITERAL_START = 'tfn'

/** Follows a character between tokens. Returns `true` if a key comes next. */
function updatePath(path: (string | number)[], char: string, isKeyNext: boolean): boolean {
  switch (char) {
    case '{':
      path.push('')
      return true
    case '[':
      path.push(0)
      return false
    case '}':
    case ']':
      path.pop()
      return false
    case ',':
      return advancePath(path)
    default:
      return isKeyNext
  }
}

function advancePath(path: (string | number)[]): boolean {
  const last = path.at(-1)
  if (typeof last !== 'number') return true
  path[path.length - 1] = last + 1
  return false
}
