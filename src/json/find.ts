import type { JsonPath } from './path.ts'
import { endOfString, endOfValue, skipSeparators, type JsonRange } from './scan.ts'

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
export function decodeString(text: string, { start, end }: JsonRange): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? String(JSON.parse(`"${inner}"`)) : inner
}
