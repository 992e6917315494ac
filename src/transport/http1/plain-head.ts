import type { RawHeaders } from '../http-heads.ts'

/** The head of a POST with a body of known length. */
export interface PlainHead {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawHeaders: RawHeaders
  /** How many bytes of body follow. */
  readonly length: number
  /** Whether the client wants nothing more after this. */
  readonly isLast: boolean
}

const MOST_HEADS = 256
const LONGEST_HEAD = 8 * 1024

/** Reads heads of requests. A client writes the same ones again and again: what was read before is not read again. */
export class PlainHeads {
  readonly #known = new Map<string, PlainHead>()

  /** `text` is the head without the blank line at its end. */
  read(text: string): PlainHead | undefined {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const head = text.length > LONGEST_HEAD ? undefined : readPlainHead(text)
    if (head !== undefined) this.#remember(text, head)
    return head
  }

  #remember(text: string, head: PlainHead): void {
    if (this.#known.size >= MOST_HEADS) this.#known.clear()
    this.#known.set(text, head)
  }
}

/**
 * A head in the one form that nearly all clients write. What is in any other form, right or wrong, is undefined here and for
 * Node's parser to judge: there is nothing that we let through and Node would not.
 */
export function readPlainHead(text: string): PlainHead | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const url = REQUEST_LINE.exec(first)?.[1]
  if (url === undefined || lines.length > MOST_LINES) return undefined
  const headers: Record<string, string> = Object.create(null)
  const rawHeaders: string[] = []
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    const key = name.toLowerCase()
    if (!isPlain(key, value) || key in headers) return undefined
    headers[key] = value
    rawHeaders.push(name, value)
  }
  const { 'content-length': length, host, connection = 'keep-alive' } = headers
  if (length === undefined || host === undefined) return undefined
  return { url, headers, rawHeaders, length: Number(length), isLast: connection.toLowerCase() === 'close' }
}

const REQUEST_LINE = /^POST (\/[\w\-.~!$&'()*+,;=:@%/?]*) HTTP\/1\.1$/
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*((?:[!-~](?:[ -~]*[!-~])?)?)[ \t]*$/
const MOST_LINES = 64

// They say how the bytes go on, or what becomes of the connection.
const OF_THE_HOP = new Set(['expect', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** A line that could not be read has no name. */
function isPlain(key: string, value: string): boolean {
  if (key === 'content-length') return LENGTH.test(value)
  if (key === 'connection') return /^(?:keep-alive|close)$/i.test(value)
  return key !== '' && !OF_THE_HOP.has(key)
}

const LENGTH = /^(?:0|[1-9]\d{0,6})$/
