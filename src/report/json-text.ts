import { canonicalJson } from '../json/canonical.ts'
import { parseJson } from '../json/parse.ts'
import { escapeControlCharsInJson } from '../text.ts'

/** Members whose values are already JSON text, such as recorded messages. */
export type JsonMembers = Readonly<Record<string, string>>

/** Formats an indented document that is safe to show on a terminal. Lists may be long: they are indented item by item. */
export function jsonDocument(members: Readonly<Record<string, string | readonly string[]>>): string {
  const written = Object.entries(members).map(
    ([name, value]) =>
      `  ${JSON.stringify(name)}: ${typeof value === 'string' ? indentedJson(value, 1) : indentedList(value)}`,
  )
  return `{\n${written.join(',\n')}\n}\n`
}

export function jsonObject(members: JsonMembers): string {
  const written = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  return `{${written.join(',')}}`
}

export function jsonList(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** Formats a value as JSON. It is canonical, because JSON.stringify overflows on deeply nested values. */
export function jsonValue(value: unknown): string {
  return canonicalJson(value)
}

function indentedList(items: readonly string[]): string {
  if (items.length === 0) return '[]'
  return `[\n${items.map((item) => `    ${indentedJson(item, 2)}`).join(',\n')}\n  ]`
}

function indentedJson(json: string, depth: number): string {
  return indentJson(escapeControlCharsInJson(json), depth)
}

const [QUOTE, BACKSLASH, COLON, COMMA] = codesOf('"\\:,')
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = codesOf('{}[]')
const SINGLE_TOKENS = new Set(codesOf('{}[],: \t\r\n"'))
const SPACE = new Set(codesOf(' \t\r\n'))

// Deeper values are not indented, because the size of hostile nesting would grow with the square of its depth.
const MAX_INDENT_DEPTH = 64
const LINE_BREAKS = Array.from({ length: MAX_INDENT_DEPTH + 1 }, (_, depth) => `\n${'  '.repeat(depth)}`)

/** Indents valid JSON without parsing it, so that numbers, escapes and the order of keys stay unchanged. */
export function indentJson(text: string, startDepth = 0): string {
  const parts: string[] = []
  let depth = startDepth
  let previous: number | undefined
  for (let at = 0, end = 0; at < text.length; at = end) {
    const first = text.charCodeAt(at)
    end = tokenEnd(text, at, first)
    if (SPACE.has(first)) continue
    if (isClosing(first)) depth--
    parts.push(gapBetween(previous, first, depth), text.slice(at, end))
    if (isOpening(first)) depth++
    previous = first
  }
  return parts.join('')
}

function tokenEnd(text: string, start: number, first: number): number {
  if (first === QUOTE) return stringEnd(text, start)
  let end = start + 1
  if (SINGLE_TOKENS.has(first)) return end
  while (end < text.length && !SINGLE_TOKENS.has(text.charCodeAt(end))) end++
  return end
}

function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote < 0 ? text.length : quote + 1
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

/** The separator of two tokens, each given by its first character. */
function gapBetween(previous: number | undefined, next: number, depth: number): string {
  if (previous === COLON) return ' '
  const isEmpty = isOpening(previous) && isClosing(next)
  const breaks = !isEmpty && (previous === COMMA || isOpening(previous) || isClosing(next))
  return breaks ? (LINE_BREAKS[depth] ?? '') : ''
}

function isOpening(code: number | undefined): boolean {
  return code === OPEN_OBJECT || code === OPEN_LIST
}

function isClosing(code: number | undefined): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_LIST
}

function codesOf(chars: string): readonly number[] {
  return Array.from(chars, (char) => char.charCodeAt(0))
}

/** A list whose items are created one at a time. An item may contain further such lists. */
export class StreamedList {
  readonly items: () => Iterable<object>

  constructor(items: () => Iterable<object>) {
    this.items = items
  }
}

/** Formats a JSON document in chunks, because its lists may be long. The layout is that of JSON.stringify with an indent of two. */
export function* streamJson(members: object): Generator<string> {
  yield* streamMembers(members, '')
  yield '\n'
}

function* streamMembers(members: object, indent: string): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(members) as [string, unknown][]) {
    if (value === undefined) continue
    yield `${before}\n${indent}  ${JSON.stringify(name)}: `
    if (value instanceof StreamedList) yield* streamList(value, `${indent}  `)
    else yield indentedValue(value, `${indent}  `)
    before = ','
  }
  yield before === '{' ? '{}' : `\n${indent}}`
}

function* streamList({ items }: StreamedList, indent: string): Generator<string> {
  let before = '['
  for (const item of items()) {
    yield `${before}\n${indent}  `
    if (hasStreamedList(item)) yield* streamMembers(item, `${indent}  `)
    else yield indentedValue(item, `${indent}  `)
    before = ','
  }
  yield before === '[' ? '[]' : `\n${indent}]`
}

function hasStreamedList(item: object): boolean {
  return Object.values(item).some((value) => value instanceof StreamedList)
}

function indentedValue(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}

/** Returns a value that JSON.stringify can write. A value that is nested too deeply becomes its JSON text. */
export function toSerializable(value: unknown): unknown {
  return isNestedTooDeeply(value) ? canonicalJson(value) : value
}

/** Parses JSON. Returns the text itself if it is not JSON, or nested too deeply. */
export function parseOrKeepText(text: string | undefined): unknown {
  if (text === undefined) return null
  const value = parseJson(text)
  return value === undefined || isNestedTooDeeply(value) ? text : value
}

const MAX_NESTING = 500

function isNestedTooDeeply(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_NESTING) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
