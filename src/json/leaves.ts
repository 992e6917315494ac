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
