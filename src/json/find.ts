/** A stretch of a JSON text: `text.slice(start, end)`. */
export interface JsonRange {
  readonly start: number
  readonly end: number
}

/** The way to a value: names of members and places of items. */
export type JsonPath = readonly (string | number)[]

// Everything here expects text that JSON.parse has accepted, and reads it without recursion.

/** Where the values of an object's own members stand; of two members with one name the last counts, as in JSON.parse. */
export function memberRanges(text: string): ReadonlyMap<string, JsonRange> {
  return memberRangesWithin(text, skipSeparators(text, 0))
}

/** Where the items of an array stand. */
export function itemRanges(text: string): readonly JsonRange[] {
  return itemRangesWithin(text, skipSeparators(text, 0))
}

/** Where the value at a path stands; undefined when there is none. */
export function findRange(text: string, path: JsonPath): JsonRange | undefined {
  let range: JsonRange | undefined = { start: skipSeparators(text, 0), end: text.trimEnd().length }
  for (const step of path) {
    if (range === undefined) return undefined
    range = childRange(text, range.start, step)
  }
  return range
}

/** The text with another value at a path, every other byte as it was; the same text when there is nothing at the path. */
export function replaceValue(text: string, path: JsonPath, replacement: string): string {
  const range = findRange(text, path)
  return range === undefined ? text : text.slice(0, range.start) + replacement + text.slice(range.end)
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

// Compared where it stands: most keys are not the one, and few have an escape.
function keyEquals(text: string, { start, end }: JsonRange, name: string): boolean {
  if (end - start - 2 === name.length && text.startsWith(name, start + 1)) return !name.includes('\\')
  return text.slice(start, end).includes('\\') && parseKey(text, start, end) === name
}

function memberRangesWithin(text: string, start: number): ReadonlyMap<string, JsonRange> {
  const members = new Map<string, JsonRange>()
  forEachMember(text, start, (key, value) => void members.set(parseKey(text, key.start, key.end), value))
  return members
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

function parseKey(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end - 1)
  return key.includes('\\') ? String(JSON.parse(`"${key}"`)) : key
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

const QUOTE = 0x22
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const [SPACE, COLON, COMMA] = [0x20, 0x3a, 0x2c]

// Passes white space and what separates values, which valid JSON has only where it belongs.
function skipSeparators(text: string, from: number): number {
  let at = from
  while (isSeparator(text.charCodeAt(at))) at++
  return at
}

// At or below a space stand the four kinds of white space; past the end of the text the code is NaN.
function isSeparator(code: number): boolean {
  return code <= SPACE || code === COLON || code === COMMA
}

function endOfValue(text: string, start: number): number {
  const code = text.charCodeAt(start)
  if (code === QUOTE) return endOfString(text, start)
  return isOpening(code) ? endOfContainer(text, start) : endOfScalar(text, start)
}

/** Behind the closing quote of the string that opens here. */
export function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslash = at - 1
  while (text[backslash] === '\\') backslash--
  return (at - backslash) % 2 === 0
}

function endOfContainer(text: string, start: number): number {
  let depth = 0
  let at = start
  do {
    const code = text.charCodeAt(at)
    if (isOpening(code)) depth++
    else if (isClosing(code)) depth--
    at = code === QUOTE ? endOfString(text, at) : at + 1
  } while (depth > 0)
  return at
}

/** Behind the number or literal that starts here. */
export function endOfScalar(text: string, start: number): number {
  let at = start
  while (at < text.length && !isSeparator(text.charCodeAt(at)) && !isClosing(text.charCodeAt(at))) at++
  return at
}

function isOpening(code: number): boolean {
  return code === OPEN_OBJECT || code === OPEN_ARRAY
}

function isClosing(code: number): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY
}
