/** The head of a response: the last one that is not of the 1xx kind. */
export interface ResponseHead {
  readonly status: number
  /** Names in small letters; of several lines with one name the last counts, which none of the headers read here has. */
  readonly headers: ReadonlyMap<string, string>
}

export interface ResponseHandlers {
  readonly onHead: (head: ResponseHead) => void
  readonly onBody: (chunk: Buffer) => void
  /** The body is complete; `reusable` when another request may follow on the connection. */
  readonly onEnd: (reusable: boolean) => void
}

type Part =
  | { readonly kind: 'head' }
  | { readonly kind: 'length'; left: number }
  | { readonly kind: 'chunk-size' }
  | { readonly kind: 'chunk'; left: number }
  | { readonly kind: 'trailer' }
  | { readonly kind: 'until-close' }

const MAX_HEAD_BYTES = 64 * 1024
const NOTHING: Buffer = Buffer.alloc(0)

/** Reads HTTP/1.1 responses from the bytes of a connection, however they are cut. Throws on what is no HTTP. */
export class ResponseReader {
  readonly #handlers: ResponseHandlers
  #part: Part = { kind: 'head' }
  #rest: Buffer = NOTHING
  #keepAlive = true

  constructor(handlers: ResponseHandlers) {
    this.#handlers = handlers
  }

  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = NOTHING
    while (bytes.length > 0) {
      const used = this.#read(bytes)
      if (used === 0) {
        this.#hold(bytes)
        return
      }
      bytes = bytes.subarray(used)
    }
  }

  /** The connection is closed; true when the response was complete with that. */
  close(): boolean {
    if (this.#part.kind !== 'until-close') return false
    this.#finish(false)
    return true
  }

  #hold(bytes: Buffer): void {
    if (bytes.length > MAX_HEAD_BYTES) throw new Error('a line of the response is too long')
    this.#rest = bytes
  }

  /** Reads one part from the front of the bytes, and returns how many it took: none when there are too few. */
  #read(bytes: Buffer): number {
    const part = this.#part
    switch (part.kind) {
      case 'head':
        return this.#readHead(bytes)
      case 'length':
      case 'chunk':
        return this.#readSized(bytes, part)
      case 'chunk-size':
        return this.#readChunkSize(bytes)
      case 'trailer':
        return this.#readTrailer(bytes)
      case 'until-close':
        this.#handlers.onBody(bytes)
        return bytes.length
    }
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) return 0
    const head = parseHead(bytes.toString('latin1', 0, end))
    if (head.status >= 200) this.#begin(head)
    return end + 4
  }

  #begin(head: ResponseHead): void {
    const { status, headers } = head
    this.#keepAlive = headers.get('connection')?.toLowerCase() !== 'close'
    const length = headers.get('content-length')
    if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') this.#part = { kind: 'chunk-size' }
    else if (status === 204 || status === 304) this.#part = { kind: 'length', left: 0 }
    else if (length === undefined) this.#part = { kind: 'until-close' }
    else this.#part = { kind: 'length', left: sizeOf(length, 10) }
    this.#handlers.onHead(head)
    if (this.#part.kind === 'length' && this.#part.left === 0) this.#finish(this.#keepAlive)
  }

  #readSized(bytes: Buffer, part: Extract<Part, { left: number }>): number {
    const used = Math.min(part.left, bytes.length)
    part.left -= used
    this.#handlers.onBody(bytes.subarray(0, used))
    if (part.left > 0) return used
    if (part.kind === 'length') this.#finish(this.#keepAlive)
    else this.#part = { kind: 'chunk-size' }
    return used
  }

  #readChunkSize(bytes: Buffer): number {
    // The line break that ends the chunk before stands here too.
    const start = bytes[0] === 13 && bytes[1] === 10 ? 2 : 0
    const end = bytes.indexOf('\r\n', start)
    if (end < 0 || bytes.length < 2) return 0
    const left = sizeOf(bytes.toString('latin1', start, end).split(';', 1)[0] ?? '', 16)
    this.#part = left === 0 ? { kind: 'trailer' } : { kind: 'chunk', left }
    return end + 2
  }

  #readTrailer(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n')
    if (end < 0) return 0
    if (end === 0) this.#finish(this.#keepAlive)
    return end + 2
  }

  #finish(reusable: boolean): void {
    this.#part = { kind: 'head' }
    this.#handlers.onEnd(reusable)
  }
}

function parseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1]
  if (status === undefined) throw new Error(`the server does not speak HTTP/1.1: ${first.slice(0, 80)}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { status: Number(status), headers }
}

function sizeOf(text: string, radix: 10 | 16): number {
  const size = Number.parseInt(text.trim(), radix)
  if (!/^[0-9a-f]+$/i.test(text.trim()) || !Number.isSafeInteger(size))
    throw new Error(`no size: ${text.slice(0, 40)}`)
  return size
}
