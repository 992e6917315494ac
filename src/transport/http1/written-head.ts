import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import { httpDate } from './http-date.ts'

export type GivenHeaders = Readonly<Record<string, string | number>>

/** The head of a response, and what it says of the bytes after it. */
export interface WrittenHead {
  readonly text: string
  /** Whether the body has the length that the head names; else it comes in chunks. */
  readonly hasLength: boolean
  /** Whether the connection ends with the response. */
  readonly isLast: boolean
}

/** Writes a head as Node does. `keepAlive` is for how many seconds an idle connection is kept; 0 when it is not. */
export function writtenHead(status: number, headers: GivenHeaders, keepAlive: number): WrittenHead {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  let given = 0
  let isLast = keepAlive === 0
  for (const name in headers) {
    const value = String(headers[name])
    const meaning = meaningOf(name)
    validateHeaderValue(name, value)
    text += `${name}: ${value}\r\n`
    given |= meaning
    if (meaning === CONNECTION) isLast ||= /\bclose\b/i.test(value)
  }
  const hasLength = (given & LENGTH) !== 0
  const encoding = hasLength || (given & ENCODING) !== 0 ? '' : 'Transfer-Encoding: chunked\r\n'
  return { text: `${text}${ownLines(given, keepAlive)}${encoding}\r\n`, hasLength, isLast }
}

const [DATE, CONNECTION, LENGTH, ENCODING] = [1, 2, 4, 8]
const MEANINGS: ReadonlyMap<string, number> = new Map([
  ['date', DATE],
  ['connection', CONNECTION],
  ['content-length', LENGTH],
  ['transfer-encoding', ENCODING],
])
const known = new Map<string, number>()

/** There are few names, and each is looked at once. */
function meaningOf(name: string): number {
  const found = known.get(name)
  if (found !== undefined) return found
  validateHeaderName(name)
  const meaning = MEANINGS.get(name.toLowerCase()) ?? 0
  known.set(name, meaning)
  return meaning
}

/** What stands in every head that does not say it itself. */
function ownLines(given: number, keepAlive: number): string {
  if ((given & (DATE | CONNECTION)) === 0) return usualLines(keepAlive)
  return `${(given & DATE) === 0 ? dateLine() : ''}${(given & CONNECTION) === 0 ? connectionLines(keepAlive) : ''}`
}

let usual = { keepAlive: 0, date: '', lines: '' }

/** The same for a second. */
function usualLines(keepAlive: number): string {
  const date = httpDate()
  if (usual.date !== date || usual.keepAlive !== keepAlive)
    usual = { keepAlive, date, lines: dateLine() + connectionLines(keepAlive) }
  return usual.lines
}

function dateLine(): string {
  return `Date: ${httpDate()}\r\n`
}

function connectionLines(keepAlive: number): string {
  if (keepAlive === 0) return 'Connection: close\r\n'
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAlive}\r\n`
}
