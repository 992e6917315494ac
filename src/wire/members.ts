/** A stretch of a JSON text: `text.slice(start, end)`. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The way to a value: names of members and places of items. */
export type Path = readonly (string | number)[]

// Everything here expects text that JSON.parse has accepted, and reads it without recursion.

/** Where the values of an object's own members stand; of two members with one name the last counts, as in JSON.parse. */
export function membersOf(text: string): ReadonlyMap<string, Range> {
  return membersWithin(text, startOfValue(text, 0))
}

/** Where the items of an array stand. */
export function itemsOf(text: string): readonly Range[] {
  return itemsWithin(text, startOfValue(text, 0))
}

/** Where the value at a path stands; undefined when there is none. */
export function rangeAt(text: string, path: Path): Range | undefined {
  let range: Range | undefined = { start: startOfValue(text, 0), end: text.trimEnd().length }
  for (const step of path) {
    if (range === undefined) return undefined
    range = childOf(text, range.start, step)
  }
  return range
}

/** The text with another value at a path, every other byte as it was; the same text when there is nothing at the path. */
export function replaceAt(text: string, path: Path, replacement: string): string {
  const range = rangeAt(text, path)
  return range === undefined ? text : text.slice(0, range.start) + replacement + text.slice(range.end)
}

function childOf(text: string, start: number, step: string | number): Range | undefined {
  if (typeof step === 'string') return text[start] === '{' ? memberWithin(text, start, step) : undefined
  return text[start] === '[' ? itemsWithin(text, start)[step] : undefined
}

function memberWithin(text: string, start: number, name: string): Range | undefined {
  let found: Range | undefined
  eachMember(text, start, (key, value) => {
    if (isKey(text, key, name)) found = value
  })
  return found
}

// Compared where it stands: most keys are not the one, and few have an escape.
function isKey(text: string, { start, end }: Range, name: string): boolean {
  if (end - start - 2 === name.length && text.startsWith(name, start + 1)) return !name.includes('\\')
  return text.slice(start, end).includes('\\') && keyIn(text, start, end) === name
}

function membersWithin(text: string, start: number): ReadonlyMap<string, Range> {
  const members = new Map<string, Range>()
  eachMember(text, start, (key, value) => void members.set(keyIn(text, key.start, key.end), value))
  return members
}

function eachMember(text: string, start: number, visit: (key: Range, value: Range) => void): void {
  let at = startOfValue(text, start + 1)
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at)
    const valueStart = startOfValue(text, keyEnd)
    const valueEnd = endOfValue(text, valueStart)
    visit({ start: at, end: keyEnd }, { start: valueStart, end: valueEnd })
    at = startOfValue(text, valueEnd)
  }
}

function keyIn(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end - 1)
  return key.includes('\\') ? String(JSON.parse(`"${key}"`)) : key
}

function itemsWithin(text: string, start: number): readonly Range[] {
  const items: Range[] = []
  let at = startOfValue(text, start + 1)
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at)
    items.push({ start: at, end })
    at = startOfValue(text, end)
  }
  return items
}

const QUOTE = 0x22
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const [SPACE, COLON, COMMA] = [0x20, 0x3a, 0x2c]

// Passes white space and what separates values, which valid JSON has only where it belongs.
function startOfValue(text: string, from: number): number {
  let at = from
  while (isBetweenValues(text.charCodeAt(at))) at++
  return at
}

// At or below a space stand the four kinds of white space; past the end of the text the code is NaN.
function isBetweenValues(code: number): boolean {
  return code <= SPACE || code === COLON || code === COMMA
}

function endOfValue(text: string, start: number): number {
  const code = text.charCodeAt(start)
  if (code === QUOTE) return endOfString(text, start)
  return isOpening(code) ? endOfContainer(text, start) : endOfPlain(text, start)
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
export function endOfPlain(text: string, start: number): number {
  let at = start
  while (at < text.length && !isBetweenValues(text.charCodeAt(at)) && !isClosing(text.charCodeAt(at))) at++
  return at
}

function isOpening(code: number): boolean {
  return code === OPEN_OBJECT || code === OPEN_ARRAY
}

function isClosing(code: number): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY
}
