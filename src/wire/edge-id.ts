import { idText, type Id } from './id.ts'
import type { Range } from './members.ts'

// Peers write the id right behind the version, or last: there it is found without a look at the rest.
const FIRST = '{"jsonrpc":"2.0","id":'
const LAST = ',"id":'
const RESULT = '"result":'

/** Where the whole number stands that a text has for an id at one of its edges. Nothing else of the text is looked at. */
export function numberAtEdge(text: string): Range | undefined {
  return numberAtEnd(text) ?? numberAtStart(text)
}

/** The number that a result answers, where both stand as servers usually write them; undefined when it takes a closer look. */
export function plainAnswerId(text: string): number | undefined {
  const range = numberAtEdge(text)
  if (range === undefined) return undefined
  const isResult =
    range.start === FIRST.length ? text.startsWith(RESULT, range.end + 1) : text.startsWith(RESULT, 1)
  return isResult ? Number(text.slice(range.start, range.end)) : undefined
}

/** Where the id of a message stands whose id is known; undefined when it takes a look at the whole text. */
export function edgeOf(text: string, id: Id): Range | undefined {
  const spelled = idText(id)
  const last = text.length - 1 - spelled.length
  if (text.endsWith('}') && text.startsWith(spelled, last) && text.startsWith(LAST, last - LAST.length))
    return { start: last, end: text.length - 1 }
  const end = FIRST.length + spelled.length
  const isFirst = text.startsWith(FIRST) && text.startsWith(spelled, FIRST.length) && text[end] === ','
  // Of two members with one name the last counts.
  return isFirst && !text.includes('"id"', end) ? { start: FIRST.length, end } : undefined
}

function numberAtEnd(text: string): Range | undefined {
  const end = text.length - 1
  if (text.charCodeAt(end) !== CLOSE) return undefined
  let start = end
  while (isDigit(text.charCodeAt(start - 1))) start--
  const isId = isNumber(text, start, end) && text.startsWith(LAST, start - LAST.length)
  return isId ? { start, end } : undefined
}

function numberAtStart(text: string): Range | undefined {
  if (!text.startsWith(FIRST)) return undefined
  const start = FIRST.length
  let end = start
  while (isDigit(text.charCodeAt(end))) end++
  return isNumber(text, start, end) && text.charCodeAt(end) === COMMA ? { start, end } : undefined
}

const [ZERO, COMMA, CLOSE] = [0x30, 0x2c, 0x7d]

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9
}

function isNumber(text: string, start: number, end: number): boolean {
  return end > start && (text.charCodeAt(start) !== ZERO || end === start + 1)
}
