import { endOfPlain, endOfString, type Path, type Range } from './members.ts'

/** A string, number or literal in a JSON text, with the way to it. */
export interface Leaf extends Range {
  readonly path: Path
}

// A path costs its length, and a hostile text nests without end: what lies deeper is not told.
const DEEPEST = 64

/** Every leaf of a text that JSON.parse has accepted, in the order of the text. */
export function leavesOf(text: string): readonly Leaf[] {
  const leaves: Leaf[] = []
  const way = new Way()
  for (let at = 0; at < text.length;) {
    const char = text[at]
    if (char === '{' || char === '[') at = way.open(char, at)
    else if (char === '}' || char === ']') at = way.close(at)
    else if (char === '"' && way.awaitsKey()) at = way.name(text, at)
    else if (BETWEEN.has(char ?? '')) at++
    else at = leafAt(text, at, way, leaves)
  }
  return leaves
}

/** What a leaf says: the text of a string, or a number or literal as it is spelled. */
export function leafText(text: string, { start, end }: Range): string {
  if (text[start] !== '"') return text.slice(start, end)
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(`"${inner}"`)) : inner
}

const BETWEEN: ReadonlySet<string> = new Set(' \t\r\n,:')

function leafAt(text: string, start: number, way: Way, leaves: Leaf[]): number {
  const end = text[start] === '"' ? endOfString(text, start) : endOfPlain(text, start)
  way.enter()
  const path = way.path()
  if (path !== undefined) leaves.push({ path, start, end })
  way.leave()
  return end
}

interface Level {
  readonly isArray: boolean
  step: string | number | undefined
}

/** Where a scan stands: the containers that are open, and the member or item that is being read in each. */
class Way {
  readonly #levels: Level[] = []

  open(char: string, at: number): number {
    this.enter()
    this.#levels.push({ isArray: char === '[', step: char === '[' ? -1 : undefined })
    return at + 1
  }

  close(at: number): number {
    this.#levels.pop()
    this.leave()
    return at + 1
  }

  awaitsKey(): boolean {
    const level = this.#levels.at(-1)
    return level !== undefined && !level.isArray && level.step === undefined
  }

  name(text: string, at: number): number {
    const end = endOfString(text, at)
    const level = this.#levels.at(-1)
    if (level !== undefined) level.step = leafText(text, { start: at, end })
    return end
  }

  enter(): void {
    const level = this.#levels.at(-1)
    if (level?.isArray && typeof level.step === 'number') level.step++
  }

  leave(): void {
    const level = this.#levels.at(-1)
    if (level !== undefined && !level.isArray) level.step = undefined
  }

  path(): Path | undefined {
    if (this.#levels.length > DEEPEST) return undefined
    return this.#levels.flatMap(({ step }) => step ?? [])
  }
}
