import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import { httpDate } from './http-date.ts'

export type ResponseHeaderValues = Readonly<Record<string, string | number>>

/** The head of a response, and what it says of the bytes after it. */
export interface FormattedResponseHead {
  readonly text: string
  /** Whether the body has the length that the head names; else it comes in chunks. */
  readonly hasLength: boolean
  /** Whether the connection ends with the response. */
  readonly closesConnection: boolean
}

/** Writes a head as Node does. `keepAlive` is for how many seconds an idle connection is kept; 0 when it is not. */
export function formatResponseHead(
  status: number,
  headers: ResponseHeaderValues,
  keepAlive: number,
): FormattedResponseHead {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  let given = 0
  let closesConnection = keepAlive === 0
  for (const name in headers) {
    const value = String(headers[name])
    const meaning = headerFlag(name)
    validateHeaderValue(name, value)
    text += `${name}: ${value}\r\n`
    given |= meaning
    if (meaning === CONNECTION) closesConnection ||= /\bclose\b/i.test(value)
  }
  const hasLength = (given & LENGTH) !== 0
  const encoding = hasLength || (given & ENCODING) !== 0 ? '' : 'Transfer-Encoding: chunked\r\n'
  return {
    text: `${text}${defaultLines(given, keepAlive)}${encoding}\r\n`,
    hasLength,
    closesConnection,
  }
}

const [DATE, CONNECTION, LENGTH, ENCODING] = [1, 2, 4, 8]
const HEADER_FLAGS: ReadonlyMap<string, number> = new Map([
  ['date', DATE],
  ['connection', CONNECTION],
  ['content-length', LENGTH],
  ['transfer-encoding', ENCODING],
])
const knownFlags = new Map<string, number>()

/** There are few names, and each is looked at once. */
function headerFlag(name: string): number {
  const found = knownFlags.get(name)
  if (found !== undefined) return found
  validateHeaderName(name)
  const meaning = HEADER_FLAGS.get(name.toLowerCase()) ?? 0
  knownFlags.set(name, meaning)
  return meaning
}

/** What stands in every head that does not say it itself. */
function defaultLines(given: number, keepAlive: number): string {
  if ((given & (DATE | CONNECTION)) === 0) return cachedDefaultLines(keepAlive)
  return `${(given & DATE) === 0 ? dateLine() : ''}${(given & CONNECTION) === 0 ? connectionLines(keepAlive) : ''}`
}

let cachedLines = { keepAlive: 0, date: '', lines: '' }

/** The same for a second. */
function cachedDefaultLines(keepAlive: number): string {
  const date = httpDate()
  if (cachedLines.date !== date || cachedLines.keepAlive !== keepAlive)
    cachedLines = { keepAlive, date, lines: dateLine() + connectionLines(keepAlive) }
  return cachedLines.lines
}

function dateLine(): string {
  return `Date: ${httpDate()}\r\n`
}

function connectionLines(keepAlive: number): string {
  if (keepAlive === 0) return 'Connection: close\r\n'
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAlive}\r\n`
}
