import type { RawHeaders } from '../../http/headers.ts'

/** The head of a POST with a body of known length. */
export interface FastRequestHead {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawHeaders: RawHeaders
  /** How many bytes of body follow. */
  readonly length: number
  /** Whether the client wants nothing more after this. */
  readonly isLast: boolean
}

const MAX_CACHED_HEADS = 256
const MAX_HEAD_LENGTH = 8 * 1024

/** Reads heads of requests. A client writes the same ones again and again: what was read before is not read again. */
export class FastHeadCache {
  readonly #known = new Map<string, FastRequestHead>()

  /** `text` is the head without the blank line at its end. */
  read(text: string): FastRequestHead | undefined {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const head = text.length > MAX_HEAD_LENGTH ? undefined : parseFastHead(text)
    if (head !== undefined) this.#remember(text, head)
    return head
  }

  #remember(text: string, head: FastRequestHead): void {
    if (this.#known.size >= MAX_CACHED_HEADS) this.#known.clear()
    this.#known.set(text, head)
  }
}

/**
 * A head in the one form that nearly all clients write. What is in any other form, right or wrong, is undefined here and for
 * Node's parser to judge: there is nothing that we let through and Node would not.
 */
export function parseFastHead(text: string): FastRequestHead | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const url = REQUEST_LINE.exec(first)?.[1]
  if (url === undefined || lines.length > MAX_HEADER_LINES) return undefined
  const headers: Record<string, string> = Object.create(null)
  const rawHeaders: string[] = []
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    const key = name.toLowerCase()
    if (!isSimpleHeader(key, value) || key in headers) return undefined
    headers[key] = value
    rawHeaders.push(name, value)
  }
  const { 'content-length': length, host, connection = 'keep-alive' } = headers
  if (length === undefined || host === undefined) return undefined
  return { url, headers, rawHeaders, length: Number(length), isLast: connection.toLowerCase() === 'close' }
}

const REQUEST_LINE = /^POST (\/[\w\-.~!$&'()*+,;=:@%/?]*) HTTP\/1\.1$/
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*((?:[!-~](?:[ -~]*[!-~])?)?)[ \t]*$/
const MAX_HEADER_LINES = 64

// They say how the bytes go on, or what becomes of the connection.
const HOP_HEADERS = new Set(['expect', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** A line that could not be read has no name. */
function isSimpleHeader(key: string, value: string): boolean {
  if (key === 'content-length') return CONTENT_LENGTH.test(value)
  if (key === 'connection') return /^(?:keep-alive|close)$/i.test(value)
  return key !== '' && !HOP_HEADERS.has(key)
}

const CONTENT_LENGTH = /^(?:0|[1-9]\d{0,6})$/
