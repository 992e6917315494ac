import { findHeader, type RawHeaders } from '../http/headers.ts'

/** The first lines of an answer. */
export interface HttpResponseHead {
  readonly status: number
  readonly reason: string
  readonly headers: RawHeaders
  /** How the end of the body is known (RFC 9112, 6.3). */
  readonly body: { readonly kind: 'none' | 'chunked' | 'until close' } | BodyOfLength
  /** Whether the socket may carry another request afterwards. */
  readonly isKept: boolean
}

interface BodyOfLength {
  readonly kind: 'length'
  readonly bytes: number
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
// A head is read strictly: where two readers could disagree on it, one of them could be made to see another answer.
const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]/

/** Reads a head without its blank line; throws when it is none. Servers send the same head many times a second. */
export function parseResponseHead(text: string, isHead: boolean): HttpResponseHead {
  if (isHead) return parseUncachedHead(text, isHead)
  const known = parsedHeads.get(text)
  if (known !== undefined) return known
  const head = parseUncachedHead(text, isHead)
  if (parsedHeads.size >= MAX_PARSED_HEADS) parsedHeads.clear()
  if (text.length <= MAX_CACHED_LENGTH) parsedHeads.set(text, head)
  return head
}

const parsedHeads = new Map<string, HttpResponseHead>()
const MAX_PARSED_HEADS = 64
const MAX_CACHED_LENGTH = 4096

function parseUncachedHead(text: string, isHead: boolean): HttpResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, code, reason = ''] = STATUS_LINE.exec(first) ?? []
  if (code === undefined) throw new Error(`no HTTP answer: ${JSON.stringify(first.slice(0, 80))}`)
  if (FORBIDDEN.test(text)) throw new Error('the head of the answer holds characters that none may hold')
  const headers = parseHeaderLines(lines)
  const status = Number(code)
  const body = isHead || status < 200 || status === 204 || status === 304 ? NO_BODY : bodyFraming(headers)
  return {
    status,
    reason,
    headers,
    body,
    isKept: body.kind !== 'until close' && isConnectionKept(minor === '1', headers),
  }
}

const NO_BODY = { kind: 'none' } as const

function parseHeaderLines(lines: readonly string[]): RawHeaders {
  const headers: string[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    if (!TOKEN.test(name) || LINE_BREAK.test(line))
      throw new Error(`a header line that cannot be read: ${JSON.stringify(line.slice(0, 80))}`)
    headers.push(name, trimmed(line, colon + 1))
  }
  return headers
}

const LINE_BREAK = /[\r\n]/

/** Not String.trim: it would take the last byte of an à for a blank. */
function trimmed(line: string, start: number): string {
  let [from, to] = [start, line.length]
  while (from < to && isBlank(line.charCodeAt(from))) from++
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--
  return line.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

const SPACE = 32
const TAB = 9

function bodyFraming(headers: RawHeaders): HttpResponseHead['body'] {
  const coding = findHeader(headers, 'transfer-encoding')
  const lengths = new Set(valuesOf(headers, 'content-length'))
  if (coding !== undefined) {
    if (lengths.size > 0) throw new Error('an answer with both Transfer-Encoding and Content-Length')
    const last = valuesOf(headers, 'transfer-encoding').at(-1)?.split(',').at(-1)?.trim().toLowerCase()
    return { kind: last === 'chunked' ? 'chunked' : 'until close' }
  }
  if (lengths.size === 0) return { kind: 'until close' }
  const [length = ''] = lengths
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length))
    throw new Error('an answer with a Content-Length that is none')
  return { kind: 'length', bytes: Number(length) }
}

function valuesOf(headers: RawHeaders, name: string): string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === name)
}

function isConnectionKept(isLatest: boolean, headers: RawHeaders): boolean {
  const options = findHeader(headers, 'connection')?.toLowerCase() ?? ''
  return isLatest ? !/\bclose\b/.test(options) : /\bkeep-alive\b/.test(options)
}
