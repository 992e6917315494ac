import { ResponseReader } from '../../http/client/response-reader.ts'
import { findHeader, MAX_HEAD_BYTES, type RawHeaders } from '../../http/headers.ts'
import type { CapturedExchange, CapturedResponse } from './http-exchanges.ts'
import type { StreamReader, TcpFlow } from './tcp-streams.ts'

/** Reads HTTP/1.1 from the two directions of TCP connections. */
export class HttpConversations implements StreamReader {
  readonly #connections = new Map<number, HttpConversation>()
  /** The first bytes of connections, until there are enough to recognise them. */
  readonly #beginnings = new Map<number, Buffer>()
  #unreadable = 0
  #encrypted = 0

  data({ from, to, connection }: TcpFlow, bytes: Uint8Array, at: number): void {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const known = this.#connections.get(connection)
    if (known !== undefined) return known.data(from, piece, at)
    const chunk = Buffer.concat([this.#beginnings.get(connection) ?? Buffer.alloc(0), piece])
    if (chunk.length < LONGEST_METHOD) return void this.#beginnings.set(connection, chunk)
    this.#beginnings.delete(connection)
    if (REQUEST_START.test(chunk.toString('latin1', 0, LONGEST_METHOD)))
      this.#connections.set(connection, new HttpConversation(from, to))
    else {
      this.#connections.set(connection, new HttpConversation('', to)) // whatever it is, it is not read
      if (chunk[0] === TLS_HANDSHAKE && chunk[1] === TLS_VERSION) this.#encrypted++
      else this.#unreadable++
    }
    this.#connections.get(connection)?.data(from, chunk, at)
  }

  gap({ from, connection }: TcpFlow): void {
    this.#connections.get(connection)?.gap(from)
  }

  end({ from, connection }: TcpFlow): void {
    this.#connections.get(connection)?.end(from)
  }

  exchanges(): readonly CapturedExchange[] {
    return [...this.#connections.values()].flatMap((each) => each.exchanges())
  }

  notes(): readonly string[] {
    const broken = [...this.#connections.values()].filter(({ failure }) => failure !== undefined)
    return [
      ...(this.#encrypted > 0 ? [`skipped ${this.#encrypted} encrypted connections`] : []),
      ...(this.#unreadable > 0
        ? [`skipped ${this.#unreadable} connections that do not begin with an HTTP/1.1 request`]
        : []),
      ...broken.map(({ failure }) => `a connection was read only in part: ${failure}`),
    ]
  }

  summary(): string {
    const connections = this.#connections.size
    const exchanges = this.exchanges().length
    return `${connections} TCP connections, ${this.#encrypted} encrypted, ${exchanges} HTTP exchanges`
  }
}

const REQUEST_START = /^(GET|POST|DELETE|PUT|HEAD|OPTIONS|PATCH) /
const LONGEST_METHOD = 8
const TLS_HANDSHAKE = 0x16
const TLS_VERSION = 0x03

/** A request whose response is not complete. */
interface OpenExchange {
  request: Omit<CapturedExchange, 'response'>
  response: (Omit<CapturedResponse, 'pieces'> & { pieces: { at: number; bytes: Uint8Array }[] }) | undefined
}

/** One connection. Its responses come in the order of its requests. */
class HttpConversation {
  readonly #client: string
  readonly #server: string
  readonly #exchanges: OpenExchange[] = []
  readonly #requests: RequestReader
  readonly #responses: ResponseReader
  /** Requests whose response has not ended. */
  readonly #waiting: OpenExchange[] = []
  #isReading = false
  #at = 0
  #failure: string | undefined

  constructor(client: string, server: string) {
    this.#client = client
    this.#server = server
    this.#requests = new RequestReader((request) => this.#onRequest(request))
    this.#responses = new ResponseReader(
      {
        onHead: ({ status, headers }) => {
          const [open] = this.#waiting
          if (open !== undefined) open.response = { status, headers, pieces: [], at: this.#at }
        },
        onBody: (bytes) => void this.#waiting[0]?.response?.pieces.push({ at: this.#at, bytes }),
        onEnd: () => {
          this.#waiting.shift()
          this.#isReading = false
        },
      },
      MAX_HEAD_BYTES,
    )
  }

  get failure(): string | undefined {
    return this.#failure
  }

  data(from: string, chunk: Buffer, at: number): void {
    if (this.#failure !== undefined || this.#client === '') return
    this.#at = at
    try {
      if (from === this.#client) this.#requests.push(chunk, at)
      else this.#pushResponses(chunk)
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
    }
  }

  gap(_from: string): void {
    if (this.#client !== '') this.#failure ??= 'bytes are missing from the capture'
  }

  end(from: string): void {
    if (from === this.#client || this.#failure !== undefined) return
    if (this.#isReading) this.#responses.end()
  }

  exchanges(): readonly CapturedExchange[] {
    return this.#exchanges.map(({ request, response }) => ({ ...request, response }))
  }

  /** Pieces of several responses can be in one chunk, so it is given to the reader response by response. */
  #pushResponses(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      const [open] = this.#waiting
      if (open === undefined) throw new Error('there is a response without a request')
      if (!this.#isReading) this.#responses.begin(open.request.method)
      this.#isReading = true
      rest = this.#pushUntilEnd(rest)
    }
  }

  /** Returns what belongs to the next response. */
  #pushUntilEnd(chunk: Buffer): Buffer {
    const before = this.#waiting.length
    for (let at = 0; at < chunk.length; at += STEP) {
      const step = chunk.subarray(at, at + STEP)
      if (this.#waiting.length === 1) {
        this.#responses.push(step)
        if (this.#waiting.length < before) return chunk.subarray(at + step.length)
        continue
      }
      // With pipelined requests the end of a response is only found byte by byte.
      for (let byte = 0; byte < step.length; byte++) {
        this.#responses.push(step.subarray(byte, byte + 1))
        if (this.#waiting.length < before) return chunk.subarray(at + byte + 1)
      }
    }
    return Buffer.alloc(0)
  }

  #onRequest({ method, target, headers, body, at }: ReadRequest): void {
    const host = findHeader(headers, 'host') ?? this.#server
    const address = target.startsWith('/') ? `http://${host}${target}` : target
    const url = URL.canParse(address) ? new URL(address) : new URL(`http://${this.#server}/`)
    const open: OpenExchange = { request: { url, method, headers, body, at }, response: undefined }
    this.#exchanges.push(open)
    this.#waiting.push(open)
  }
}

const STEP = 64 * 1024

interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly headers: RawHeaders
  readonly body: Uint8Array
  readonly at: number
}

/** Reads requests one after the other. Throws if the bytes are not HTTP/1.1. */
class RequestReader {
  readonly #onRequest: (request: ReadRequest) => void
  #held: Buffer = Buffer.alloc(0)
  #at: number | undefined

  constructor(onRequest: (request: ReadRequest) => void) {
    this.#onRequest = onRequest
  }

  push(chunk: Buffer, at: number): void {
    this.#at ??= at
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    for (let end = this.#readOne(); end !== undefined; end = this.#readOne()) {
      this.#held = this.#held.subarray(end)
      this.#at = this.#held.length > 0 ? at : undefined
    }
  }

  /** Reads a request that is complete. Returns where it ends. */
  #readOne(): number | undefined {
    const headEnd = this.#held.indexOf('\r\n\r\n')
    if (headEnd < 0) {
      if (this.#held.length > MAX_HEAD_BYTES) throw new Error('the head of a request is too long')
      return undefined
    }
    const [first = '', ...lines] = this.#held.toString('latin1', 0, headEnd).split('\r\n')
    const [, method, target] = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/.exec(first) ?? []
    if (method === undefined || target === undefined)
      throw new Error('a request does not begin with a request line')
    const headers = lines.flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [line.slice(0, colon), line.slice(colon + 1).trim()]
    })
    const read = readRequestBody(this.#held, headEnd + 4, headers)
    if (read === undefined) return undefined
    this.#onRequest({ method, target, headers, body: read.body, at: this.#at ?? 0 })
    return read.end
  }
}

/** Returns `undefined` if the body is not complete. */
function readRequestBody(
  held: Buffer,
  start: number,
  headers: RawHeaders,
): { readonly body: Uint8Array; readonly end: number } | undefined {
  if (/\bchunked\b/i.test(findHeader(headers, 'transfer-encoding') ?? '')) return readChunks(held, start)
  const length = Number(findHeader(headers, 'content-length') ?? 0)
  if (!Number.isSafeInteger(length) || length < 0) throw new Error('a request has an invalid Content-Length')
  return held.length < start + length
    ? undefined
    : { body: held.subarray(start, start + length), end: start + length }
}

function readChunks(
  held: Buffer,
  start: number,
): { readonly body: Uint8Array; readonly end: number } | undefined {
  const chunks: Buffer[] = []
  for (let at = start; ;) {
    const line = held.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(held.toString('latin1', at, line), 16)
    if (!Number.isSafeInteger(size) || size < 0) throw new Error('a request has an invalid chunk')
    if (size === 0) {
      const end = held.indexOf('\r\n', line + 2)
      if (end < 0) return undefined
      if (end === line + 2) return { body: Buffer.concat(chunks), end: end + 2 }
      const blank = held.indexOf('\r\n\r\n', line + 2)
      return blank < 0 ? undefined : { body: Buffer.concat(chunks), end: blank + 4 }
    }
    if (held.length < line + 2 + size + 2) return undefined
    chunks.push(held.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}
