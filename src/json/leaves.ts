import { endOfScalar, endOfString, type JsonPath, type JsonRange } from './find.ts'

/** A string, number or literal in a JSON text, with the way to it. */
export interface JsonLeaf extends JsonRange {
  readonly path: JsonPath
}

// A path costs its length, and a hostile text nests without end: what lies deeper is not told.
const MAX_LEAF_DEPTH = 64

/** Every leaf of a text that JSON.parse has accepted, in the order of the text. */
export function jsonLeaves(text: string): readonly JsonLeaf[] {
  const leaves: JsonLeaf[] = []
  const way = new PathTracker()
  for (let at = 0; at < text.length;) {
    const char = text[at]
    if (char === '{' || char === '[') at = way.open(char, at)
    else if (char === '}' || char === ']') at = way.close(at)
    else if (char === '"' && way.expectsKey()) at = way.readKey(text, at)
    else if (SEPARATORS.has(char ?? '')) at++
    else at = addLeafAt(text, at, way, leaves)
  }
  return leaves
}

/** What a leaf says: the text of a string, or a number or literal as it is spelled. */
export function decodeLeaf(text: string, { start, end }: JsonRange): string {
  if (text[start] !== '"') return text.slice(start, end)
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(`"${inner}"`)) : inner
}

const SEPARATORS: ReadonlySet<string> = new Set(' \t\r\n,:')

function addLeafAt(text: string, start: number, way: PathTracker, leaves: JsonLeaf[]): number {
  const end = text[start] === '"' ? endOfString(text, start) : endOfScalar(text, start)
  way.enterValue()
  const path = way.path()
  if (path !== undefined) leaves.push({ path, start, end })
  way.leaveValue()
  return end
}

interface OpenContainer {
  readonly isArray: boolean
  current: string | number | undefined
}

/** Where a scan stands: the containers that are open, and the member or item that is being read in each. */
class PathTracker {
  readonly #containers: OpenContainer[] = []

  open(char: string, at: number): number {
    this.enterValue()
    this.#containers.push({ isArray: char === '[', current: char === '[' ? -1 : undefined })
    return at + 1
  }

  close(at: number): number {
    this.#containers.pop()
    this.leaveValue()
    return at + 1
  }

  expectsKey(): boolean {
    const level = this.#containers.at(-1)
    return level !== undefined && !level.isArray && level.current === undefined
  }

  readKey(text: string, at: number): number {
    const end = endOfString(text, at)
    const level = this.#containers.at(-1)
    if (level !== undefined) level.current = decodeLeaf(text, { start: at, end })
    return end
  }

  enterValue(): void {
    const level = this.#containers.at(-1)
    if (level?.isArray && typeof level.current === 'number') level.current++
  }

  leaveValue(): void {
    const level = this.#containers.at(-1)
    if (level !== undefined && !level.isArray) level.current = undefined
  }

  path(): JsonPath | undefined {
    if (this.#containers.length > MAX_LEAF_DEPTH) return undefined
    return this.#containers.flatMap(({ current }) => current ?? [])
  }
}

/** A key, a string or a number in a JSON text. */
export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number'
  readonly start: number
  readonly end: number
  /** The way to it: names and places. It is good until the next token. */
  readonly path: readonly (string | number)[]
}

/** Shows every key, string and number of a text that JSON.parse has accepted, in order and without recursion. */
export function forEachToken(text: string, visit: (token: JsonToken) => void): void {
  const path: (string | number)[] = []
  let isKeyNext = false
  for (let at = 0; at < text.length;) {
    const char = text[at]!
    if (char === '"') {
      const end = endOfString(text, at)
      if (isKeyNext) path[path.length - 1] = decodeKey(text, at, end)
      visit({ kind: isKeyNext ? 'key' : 'string', start: at, end, path })
      isKeyNext = false
      at = end
    } else if (NUMBER_START.includes(char)) {
      const end = endOfNumber(text, at)
      visit({ kind: 'number', start: at, end, path })
      at = end
    } else {
      isKeyNext = updatePath(path, char, isKeyNext)
      at++
    }
  }
}

const NUMBER_START = '-0123456789'

/** Follows a character between the values; says whether a key comes next. */
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

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && /[\d.eE+-]/.test(text[at]!)) at++
  return at
}

function decodeKey(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end - 1)
  return name.includes('\\') ? String(JSON.parse(text.slice(start, end))) : name
}
