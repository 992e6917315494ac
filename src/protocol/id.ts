import type { JsonRange } from '../json/find.ts'

/** A JSON-RPC id keeps its JSON type: `1` and `"1"` are two ids. */
export type Id = string | number

export function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number'
}

/** A key under which no number meets a string. */
export function idKey(id: Id): string {
  return typeof id === 'number' ? `#${id}` : `"${id}`
}

/** The id that a key stands for. */
export function idFromKey(key: string): Id {
  return key.startsWith('#') ? Number(key.slice(1)) : key.slice(1)
}

/** An id as JSON. Ids are mostly numbers, and written for every message. */
export function idToJson(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

// Peers write the id right behind the version, or last: there it is found without a look at the rest.
const BEFORE_FIRST_ID = '{"jsonrpc":"2.0","id":'
const BEFORE_LAST_ID = ',"id":'
const RESULT = '"result":'

/** Where the whole number stands that a text has for an id at one of its edges. Nothing else of the text is looked at. */
export function findNumericId(text: string): JsonRange | undefined {
  return numericIdAtEnd(text) ?? numericIdAtStart(text)
}

/** The number that a result answers, where both stand as servers usually write them; undefined when it takes a closer look. */
export function numericIdOfResult(text: string): number | undefined {
  const range = findNumericId(text)
  if (range === undefined) return undefined
  const isResult =
    range.start === BEFORE_FIRST_ID.length
      ? text.startsWith(RESULT, range.end + 1)
      : text.startsWith(RESULT, 1)
  return isResult ? Number(text.slice(range.start, range.end)) : undefined
}

/** Where the id of a message stands whose id is known; undefined when it takes a look at the whole text. */
export function findKnownId(text: string, id: Id): JsonRange | undefined {
  const spelled = idToJson(id)
  const last = text.length - 1 - spelled.length
  if (
    text.endsWith('}') &&
    text.startsWith(spelled, last) &&
    text.startsWith(BEFORE_LAST_ID, last - BEFORE_LAST_ID.length)
  )
    return { start: last, end: text.length - 1 }
  const end = BEFORE_FIRST_ID.length + spelled.length
  const isFirst =
    text.startsWith(BEFORE_FIRST_ID) && text.startsWith(spelled, BEFORE_FIRST_ID.length) && text[end] === ','
  // Of two members with one name the last counts.
  return isFirst && !text.includes('"id"', end) ? { start: BEFORE_FIRST_ID.length, end } : undefined
}

function numericIdAtEnd(text: string): JsonRange | undefined {
  const end = text.length - 1
  if (text.charCodeAt(end) !== CLOSE) return undefined
  let start = end
  while (isDigit(text.charCodeAt(start - 1))) start--
  const endsWithId =
    isWholeNumber(text, start, end) && text.startsWith(BEFORE_LAST_ID, start - BEFORE_LAST_ID.length)
  return endsWithId ? { start, end } : undefined
}

function numericIdAtStart(text: string): JsonRange | undefined {
  if (!text.startsWith(BEFORE_FIRST_ID)) return undefined
  const start = BEFORE_FIRST_ID.length
  let end = start
  while (isDigit(text.charCodeAt(end))) end++
  return isWholeNumber(text, start, end) && text.charCodeAt(end) === COMMA ? { start, end } : undefined
}

const [ZERO, COMMA, CLOSE] = [0x30, 0x2c, 0x7d]

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9
}

function isWholeNumber(text: string, start: number, end: number): boolean {
  return end > start && (text.charCodeAt(start) !== ZERO || end === start + 1)
}
