import { endOfString } from '../json/find.ts'

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
