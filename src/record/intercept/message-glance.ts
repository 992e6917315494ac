import { MAX_PATTERN_TEXT } from '../../filter/filter.ts'
import type { CaseSearch, GlancedText } from '../../filter/glance.ts'
import { parseJson } from '../../json/parse.ts'
import {
  COLON,
  COMMA,
  endOfDigits,
  endOfPlainString,
  endOfStringBytes,
  hasTextAt,
  isDigit,
  QUOTE,
  skipSpaces,
} from '../../json/scan.ts'
import { parseIdBytes } from '../../protocol/find-id.ts'
import { isId, type Id } from '../../protocol/message.ts'

/** Bytes of one JSON message, or of several. */
export class GlancedBytes implements GlancedText {
  readonly minBytes: number
  readonly maxBytes: number
  readonly #bytes: Buffer
  #hasUnicodeEscape: boolean | undefined
  /** The last text that was searched, because it often is twice. */
  #searched: { readonly text: string; readonly isFound: boolean } | undefined

  /** With several messages, only the longest possible one is known. */
  constructor(bytes: Buffer, isOneMessage: boolean) {
    this.#bytes = bytes
    this.minBytes = isOneMessage ? bytes.length : 0
    this.maxBytes = bytes.length
  }

  mayContain(text: string): boolean {
    if (this.#searched?.text !== text)
      this.#searched = { text, isFound: indexOfText(this.#bytes, text, 0) >= 0 }
    return this.#searched.isFound || this.mayBeEscaped
  }

  mayContainInAnyCase({ text, pattern }: CaseSearch): boolean {
    const bytes = this.#bytes
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      if (pattern.test(bytes.toString('latin1', at, at + PIECE_BYTES + text.length))) return true
    if (/[ik]/i.test(text) && LIKE_ASCII.some((letter) => bytes.includes(letter))) return true
    return this.mayBeEscaped
  }

  mayHaveMember(name: string, test: (value: unknown) => boolean): boolean {
    const bytes = this.#bytes
    const key = `"${name}"`
    let count = 0
    for (let at = indexOfText(bytes, key, 0); at >= 0; at = indexOfText(bytes, key, at)) {
      at += key.length
      const colon = skipSpaces(bytes, at)
      if (bytes[colon] !== COLON) continue
      const value = plainValueAt(bytes, skipSpaces(bytes, colon + 1))
      if (value === undefined || ++count > MAX_MEMBERS || test(value)) return true
    }
    return this.mayBeEscaped
  }

  mayMatch(pattern: RegExp): boolean {
    const bytes = this.#bytes
    const isOne = this.minBytes === this.maxBytes
    if (!isOne && (bytes.length > MAX_PATTERN_TEXT || READS_AROUND.test(pattern.source))) return true
    // A character has at most 4 bytes, and then it counts as two.
    return pattern.test(bytes.toString('utf8', 0, MAX_PATTERN_TEXT * 3).slice(0, MAX_PATTERN_TEXT))
  }

  /** Any character can be spelled with a Unicode escape. This is not private, because a private method makes each object slow to create. */
  get mayBeEscaped(): boolean {
    this.#hasUnicodeEscape ??= this.#bytes.includes(UNICODE_ESCAPE)
    return this.#hasUnicodeEscape
  }
}

/** Finds an ASCII text. Node searches long texts much more slowly than short ones, so their beginning is searched first. */
function indexOfText(bytes: Buffer, text: string, from: number): number {
  if (text.length <= SHORT_TEXT) return bytes.indexOf(text, from)
  const beginning = text.slice(0, SHORT_TEXT)
  let at = bytes.indexOf(beginning, from)
  for (let tries = 0; at >= 0 && !hasTextAt(bytes, at, text); tries++)
    at = tries < MAX_TRIES ? bytes.indexOf(beginning, at + 1) : bytes.indexOf(text, at + 1)
  return at
}

const SHORT_TEXT = 7
const MAX_TRIES = 20
const PIECE_BYTES = 16 * 1024 // longer strings are made more slowly
/** Letters whose lower case is, or begins with, one of ASCII. */
const LIKE_ASCII = ['\u212a', '\u0130']
const MAX_MEMBERS = 100
const UNICODE_ESCAPE = String.raw`\u`
/** Parts of a pattern that look at what is before or after a match. In several messages at once they could miss one. */
const READS_AROUND = /[\^$]|\\[bB]|\(\?[=!<]/

/** The value that starts at an index. Returns `undefined` for objects, lists, long texts and whatever cannot be read. */
function plainValueAt(bytes: Buffer, start: number): unknown {
  const limit = Math.min(bytes.length, start + MAX_VALUE_BYTES)
  const isText = bytes[start] === QUOTE
  const end = isText ? endOfStringBytes(bytes, start, limit) : endOfScalarBytes(bytes, start, limit)
  return end > start ? parseJson(bytes.toString('utf8', start, end)) : undefined
}

const MAX_VALUE_BYTES = 256

function endOfScalarBytes(bytes: Buffer, start: number, limit: number): number {
  let at = start
  while (at < limit && isScalarByte(bytes[at]!)) at++
  return at < limit ? at : -1
}

/** The bytes of numbers, `true`, `false` and `null`. */
function isScalarByte(byte: number): boolean {
  return isDigit(byte) || (byte >= LOWER_A && byte <= LOWER_Z) || SCALAR_SIGNS.includes(byte)
}

const [LOWER_A, LOWER_Z] = Buffer.from('az') as unknown as readonly [number, number]
const SCALAR_SIGNS = Buffer.from('+-.E')

/** What the first and the last bytes of a line show about its message. */
export type MessageSketch =
  | { readonly kind: 'request'; readonly id: Id; readonly methodAt: number }
  | { readonly kind: 'response'; readonly id: Id }
  | { readonly kind: 'notification'; readonly methodAt: number }
  /** It has to be parsed. */
  | { readonly kind: 'unknown' }

/**
 * Sketches the message in a range of bytes. Peers write its members in few orders, and other messages are unknown. Of two members
 * with the same name, the first one counts here.
 */
export function sketchMessage(bytes: Buffer, start: number, end: number): MessageSketch {
  const afterId = endOfFirstId(bytes, start, end)
  if (afterId !== undefined) return sketchAfterId(bytes, start, afterId)
  const isResult = hasTextAt(bytes, start, `{${RESULT_KEY}`)
  const methodStart = isResult ? undefined : METHOD_STARTS.find((text) => hasTextAt(bytes, start, text))
  if (!isResult && methodStart === undefined) return UNKNOWN
  const methodAt = start + (methodStart?.length ?? 0)
  const id = lastId(bytes, start, end)
  if (id !== undefined) return isResult ? { kind: 'response', id } : { kind: 'request', id, methodAt }
  if (isResult) return UNKNOWN
  const message = bytes.subarray(start, end)
  const isNotification = !message.includes('"id"') && !message.includes(UNICODE_ESCAPE)
  return isNotification ? { kind: 'notification', methodAt } : UNKNOWN
}

const UNKNOWN: MessageSketch = { kind: 'unknown' }
const BEFORE_FIRST_ID = '{"jsonrpc":"2.0","id":'
const BEFORE_LAST_ID = ',"id":'
const RESULT_KEY = '"result":'
const METHOD_KEY = '"method":"'
const METHOD_STARTS = [`{${METHOD_KEY}`, `{"jsonrpc":"2.0",${METHOD_KEY}`]

function sketchAfterId(bytes: Buffer, start: number, afterId: number): MessageSketch {
  const isResponse = hasTextAt(bytes, afterId, RESULT_KEY) || hasTextAt(bytes, afterId, '"error":')
  if (!isResponse && !hasTextAt(bytes, afterId, METHOD_KEY)) return UNKNOWN
  const id = parseIdBytes(bytes, start + BEFORE_FIRST_ID.length, afterId - 1)
  if (!isId(id)) return UNKNOWN
  return isResponse
    ? { kind: 'response', id }
    : { kind: 'request', id, methodAt: afterId + METHOD_KEY.length }
}

/** Whether a message is a request, spelled as most clients do. It finds out faster than a sketch. */
export function isUsualRequest(bytes: Buffer, start: number, end: number): boolean {
  const first = start + BEFORE_FIRST_ID.length
  if (!hasTextAt(bytes, start, BEFORE_FIRST_ID)) return false
  const idEnd = endOfDigits(bytes, first, end)
  return idEnd > first && bytes[idEnd] === COMMA && hasTextAt(bytes, idEnd + 1, METHOD_KEY)
}

/** Index after the id of a message that begins with it, and after the comma. */
function endOfFirstId(bytes: Buffer, start: number, end: number): number | undefined {
  if (!hasTextAt(bytes, start, BEFORE_FIRST_ID)) return undefined
  const first = start + BEFORE_FIRST_ID.length
  const idEnd = bytes[first] === QUOTE ? endOfPlainString(bytes, first, end) : endOfDigits(bytes, first, end)
  return idEnd > first && bytes[idEnd] === COMMA ? idEnd + 1 : undefined
}

/** The id at the end of a message. The last brace is that of the message, so the id is not that of a part of it. */
function lastId(bytes: Buffer, messageStart: number, messageEnd: number): Id | undefined {
  const end = messageEnd - 1
  let start = end
  if (bytes[end - 1] === QUOTE) {
    start = bytes.lastIndexOf(QUOTE, end - 2)
    if (start < messageStart || endOfPlainString(bytes, start, end) !== end) return undefined
  } else while (isDigit(bytes[start - 1])) start--
  if (start === end || !hasTextAt(bytes, start - BEFORE_LAST_ID.length, BEFORE_LAST_ID)) return undefined
  const id = parseIdBytes(bytes, start, end)
  return isId(id) ? id : undefined
}

/** What the beginning of a line shows about its message. A message at whose end its id is has no id here. */
export type BeginningSketch =
  | { readonly kind: 'request'; readonly id: Id | undefined; readonly request: RequestNames }
  | { readonly kind: 'response'; readonly id: Id | undefined }

/** The method and the target of a request whose params are not known. */
interface RequestNames {
  readonly text: undefined
  readonly names: GlancedText
  readonly method: string
  readonly target: string
}

/** Sketches the message of a line that is not complete. Returns `undefined` if its beginning does not show enough. */
export function sketchBeginning(bytes: Buffer, start: number): BeginningSketch | undefined {
  const afterId = endOfFirstId(bytes, start, bytes.length)
  const first = afterId ?? start + 1
  const firstId =
    afterId === undefined ? undefined : parseIdBytes(bytes, start + BEFORE_FIRST_ID.length, afterId - 1)
  const id = isId(firstId) ? firstId : undefined
  if (hasTextAt(bytes, first, RESULT_KEY)) return { kind: 'response', id }
  const found = namesAt(bytes, first, bytes.length)
  if (found === undefined) return undefined
  const { methodEnd, targetStart, targetEnd } = found
  const request = {
    text: undefined,
    names: new GlancedBytes(bytes.subarray(first, targetEnd + 1), false),
    method: bytes.toString('utf8', first + METHOD_KEY.length, methodEnd),
    target: bytes.toString('utf8', targetStart, targetEnd),
  }
  return { kind: 'request', id, request }
}

/** The name of the target of a request, if it follows the id and the method. */
export function targetOf(bytes: Buffer, start: number, end: number): string | undefined {
  const found = namesAt(bytes, endOfFirstId(bytes, start, end) ?? start + 1, end)
  return found && bytes.toString('utf8', found.targetStart, found.targetEnd)
}

/** The ranges of a method that starts at an index, and of the name that follows it. */
function namesAt(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly methodEnd: number; readonly targetStart: number; readonly targetEnd: number } | undefined {
  if (!hasTextAt(bytes, start, METHOD_KEY)) return undefined
  const method = endOfPlainString(bytes, start + METHOD_KEY.length - 1, end)
  if (method < 0 || !hasTextAt(bytes, method, NAME_KEY)) return undefined
  const targetStart = method + NAME_KEY.length
  const name = endOfPlainString(bytes, targetStart - 1, end)
  return name < 0 ? undefined : { methodEnd: method - 1, targetStart, targetEnd: name - 1 }
}

const NAME_KEY = ',"params":{"name":"'

/** Whether a long line is a request, of which only the first and the last bytes are known. */
export function isLongRequest(beginning: Buffer, end: Buffer): boolean {
  const first = endOfFirstId(beginning, 0, beginning.length)
  if (first !== undefined) return hasTextAt(beginning, first, METHOD_KEY)
  return ID_AT_END.test(end.toString('latin1')) && !hasTextAt(beginning, 0, `{${RESULT_KEY}`)
}

const ID_AT_END = /,\s*"id"\s*:\s*(?:-?\d+|"(?:[^"\\]|\\.)*")\s*\}\s*$/
