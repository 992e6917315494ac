import type { JsonPath } from './path.ts'
import { endOfString, endOfValue, skipSeparators, type JsonRange, endOfScalar } from './scan.ts'

// All functions expect text that JSON.parse has accepted, and do not recurse.

/** The ranges of the values of an object. If two members have the same name, the last one counts, as in JSON.parse. */
export function memberRanges(text: string): ReadonlyMap<string, JsonRange> {
  const members = new Map<string, JsonRange>()
  forEachMember(
    text,
    skipSeparators(text, 0),
    (key, value) => void members.set(decodeString(text, key), value),
  )
  return members
}

/** The ranges of the items of an array. */
export function itemRanges(text: string): readonly JsonRange[] {
  return itemRangesWithin(text, skipSeparators(text, 0))
}

/** The range of the value at a path, or `undefined`. */
export function findRange(text: string, path: JsonPath): JsonRange | undefined {
  let range: JsonRange | undefined = { start: skipSeparators(text, 0), end: text.trimEnd().length }
  for (const step of path) {
    if (range === undefined) return undefined
    range = childRange(text, range.start, step)
  }
  return range
}

function childRange(text: string, start: number, step: string | number): JsonRange | undefined {
  if (typeof step === 'string') return text[start] === '{' ? memberRangeWithin(text, start, step) : undefined
  return text[start] === '[' ? itemRangesWithin(text, start)[step] : undefined
}

function memberRangeWithin(text: string, start: number, name: string): JsonRange | undefined {
  let found: JsonRange | undefined
  forEachMember(text, start, (key, value) => {
    if (keyEquals(text, key, name)) found = value
  })
  return found
}

// Most keys are different and few have an escape, so keys are compared without decoding them.
function keyEquals(text: string, { start, end }: JsonRange, name: string): boolean {
  if (end - start - 2 === name.length && text.startsWith(name, start + 1)) return !name.includes('\\')
  return text.slice(start, end).includes('\\') && decodeString(text, { start, end }) === name
}

function forEachMember(text: string, start: number, visit: (key: JsonRange, value: JsonRange) => void): void {
  let at = skipSeparators(text, start + 1)
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at)
    const valueStart = skipSeparators(text, keyEnd)
    const valueEnd = endOfValue(text, valueStart)
    visit({ start: at, end: keyEnd }, { start: valueStart, end: valueEnd })
    at = skipSeparators(text, valueEnd)
  }
}

function itemRangesWithin(text: string, start: number): readonly JsonRange[] {
  const items: JsonRange[] = []
  let at = skipSeparators(text, start + 1)
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at)
    items.push({ start: at, end })
    at = skipSeparators(text, end)
  }
  return items
}

/** Decodes the string in a range. */
function decodeString(text: string, { start, end }: JsonRange): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(`"${inner}"`)) : inner
}

/** A range of a text and the text to put there. */
export interface TextReplacement extends JsonRange {
  readonly text: string
}

export function replaceRange(text: string, { start, end }: JsonRange, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** Replaces the value at a path and keeps every other byte. Returns the text unchanged if there is no such value. */
export function replaceValue(text: string, path: JsonPath, replacement: string): string {
  const range = findRange(text, path)
  return range === undefined ? text : replaceRange(text, range, replacement)
}

/** Removes members of an object, each with one comma, and keeps every other byte. */
export function removeMembers(text: string, names: readonly string[]): string {
  const members: { readonly isKept: boolean; readonly start: number; readonly end: number }[] = []
  forEachMember(text, skipSeparators(text, 0), (key, value) =>
    members.push({ isKept: !names.includes(decodeString(text, key)), start: key.start, end: value.end }),
  )
  const lastKept = members.findLastIndex(({ isKept }) => isKept)
  const removed = members.flatMap(({ isKept, start, end }, index): readonly TextReplacement[] => {
    if (isKept) return []
    const before = members[index - 1]
    // A member after the last one that is kept takes the comma before it along.
    if (index > lastKept && before !== undefined) return [{ start: before.end, end, text: '' }]
    return [{ start, end: members[index + 1]?.start ?? end, text: '' }]
  })
  return applyReplacements(text, removed)
}

/** Makes all replacements, which must not overlap. */
export function applyReplacements(text: string, replacements: readonly TextReplacement[]): string {
  if (replacements.length === 0) return text
  let result = ''
  let at = 0
  for (const { start, end, text: replacement } of sortByStart(replacements)) {
    result += text.slice(at, start) + replacement
    at = end
  }
  return result + text.slice(at)
}

/** Sorts replacements by their start; of those that start together, the longest comes first. */
export function sortByStart(replacements: readonly TextReplacement[]): readonly TextReplacement[] {
  return replacements.toSorted((a, b) => a.start - b.start || b.end - a.end)
}

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
