import { isUtf8 } from 'node:buffer'
import type { HttpResponseHead } from '../../http/client/response-reader.ts'
import { findHeader, isEventStream, type RawHeaders } from '../../http/headers.ts'
import type {
  BodyWatcher,
  ClientPort,
  ExchangeGate,
  RequestLine,
  RequestPorts,
  ForwardRequest,
} from '../../http/proxy/proxied-exchange.ts'
import { parseJson } from '../../json/parse.ts'
import { remirroredHeaders } from '../../protocol/headers.ts'
import { classifyMessage, type Direction, type Message } from '../../protocol/message.ts'
import { SseReader } from '../../protocol/sse.ts'
import type { SseFields } from '../../tape/frame.ts'
import type { HeldMarks, InterceptedLink, MessageRoute, WireDelivery } from '../intercept/link-interceptor.ts'
import type { InjectedHttpResponse } from '../../faults/fault.ts'
import { contentEncoding, decodeInto, decodeWhole, isDecodable } from './bodies.ts'

interface ExchangeGateOptions {
  readonly line: RequestLine
  /** The connection, once it is known. A client may name its session only with the request. */
  readonly link: InterceptedLink
  /** Takes the body of the request, if it is not held. */
  readonly request: BodyWatcher
  readonly record: (dir: Direction, text: string, marks: HeldMarks, sse?: SseFields) => number | undefined
  readonly event: MessageRoute['event']
  /** Writes the head of a response that the server did not send. */
  readonly ownHead: (status: number, headers: RawHeaders) => void
}

/**
 * Holds messages of one HTTP exchange: that of the request, and those of the response. While a call is held whose client wants
 * progress, the response begins as a stream of server-sent events, and the response of the server becomes an event of it.
 */
export function exchangeGate(options: ExchangeGateOptions): ExchangeGate {
  return new HttpExchangeGate(options)
}

/** A longer body is not held, and the user is told. */
const MAX_HELD_BYTES = 16 * 1024 * 1024

class HttpExchangeGate implements ExchangeGate {
  readonly #options: ExchangeGateOptions
  #requestText: Buffer | undefined
  #parsedRequest: Message | undefined
  #client: ClientPort | undefined
  #isStreaming = false
  #isAbandoned = false
  /** The routes of the messages that may be held. */
  readonly #routes: MessageRoute[] = []
  /** Events that are held. The stream ends only after the last one. */
  #open = 0
  #onLastSettled: (() => void) | undefined
  /** Whether the request was taken over. */
  #isTaken = false
  /** Writes the head of a stream that a fault may still replace. */
  #sendHead: (() => void) | undefined
  /** What waits until a message is written piece by piece. */
  #waiting: (() => void)[] | undefined

  constructor(options: ExchangeGateOptions) {
    this.#options = options
  }

  readonly request = (body: Buffer, { send, post }: RequestPorts, client: ClientPort): void => {
    const { request, link, line } = this.#options
    this.#client = client
    const text = line.method === 'POST' ? this.#messageIn(body, line.headers, 'c2s') : undefined
    this.#requestText = text
    if (text !== undefined) link.repeatRoute = repeatRoute(this.#options, text, post)
    // The end writes the head, if that has waited for the body.
    this.#isTaken = text !== undefined && this.#takes('c2s', text, this.#requestEnds(send))
    if (this.#isTaken) return request.end()
    // A decoded message is recorded at once, and so before its response.
    if (text !== undefined && request.decoded !== undefined) request.decoded.chunk(text)
    else request.chunk(body)
    request.end()
    send(body)
  }

  readonly response = (
    head: HttpResponseHead,
    client: ClientPort,
    watcher: BodyWatcher,
  ): BodyWatcher | undefined => {
    this.#client = client
    const encoding = contentEncoding(head.headers)
    // The response to a request that a fault applies to is never encoded.
    if (encoding !== 'identity' && this.#options.link.defersHeads) return undefined
    if (isEventStream(head.headers)) {
      if (encoding === 'identity') return this.#eventStream(head, watcher)
      if (isDecodable(encoding)) return this.#encodedEventStream(head, watcher, encoding)
      this.#passes('s2c', undefined, encodingProblem(encoding))
      return undefined
    }
    return isJsonType(head.headers) || this.#isStreaming ? this.#wholeBody(head, watcher) : undefined
  }

  readonly abandon = (why: string): void => {
    this.#isAbandoned = true
    for (const route of this.#routes.splice(0)) this.#options.link.abandon(route, why)
  }

  /** The message of the request. It is parsed only if something of the exchange is held. */
  get #message(): Message | undefined {
    if (this.#requestText !== undefined)
      this.#parsedRequest ??= classifyMessage(parseJson(this.#requestText.toString('utf8')))
    return this.#parsedRequest
  }

  /** The message of a body, decoded. Returns `undefined` if the body is no message, or cannot be held. */
  #messageIn(body: Buffer, headers: RawHeaders, dir: Direction): Buffer | undefined {
    const encoding = contentEncoding(headers)
    if (!isDecodable(encoding)) {
      this.#passes(dir, undefined, encodingProblem(encoding))
      return undefined
    }
    if (body.length > MAX_HELD_BYTES) {
      this.#passes(dir, encoding === 'identity' ? body : undefined, TOO_LONG)
      return undefined
    }
    const text = decodeWhole(body, encoding, MAX_HELD_BYTES)
    if (text === 'too long') this.#passes(dir, undefined, TOO_LONG)
    return Buffer.isBuffer(text) && isMessageBody(text) ? text : undefined
  }

  /** Tells the user that a message was not held which the filter may have matched. */
  #passes(dir: Direction, bytes: Uint8Array | undefined, why: string): void {
    this.#options.link.passUnseen({ dir, bytes, why, event: this.#options.event })
  }

  #requestEnds(send: ForwardRequest): RouteEnds {
    const { line } = this.#options
    const isRequest = (): boolean => this.#message?.kind === 'request' || this.#message?.kind === 'batch'
    return {
      deliver: (text) => {
        if (this.#isAbandoned) return
        send(Buffer.from(text), {
          ...changedHeaders(line.headers, this.#message, text),
          'content-length': String(Buffer.byteLength(text)),
          'content-encoding': undefined, // the message was decoded
          'accept-encoding': 'identity',
        })
      },
      // A client that waits for a response sees that the connection is lost. Other messages have none.
      drop: () => (isRequest() ? this.#client?.destroy() : this.#respond(202, '')),
      answer: (text, wire) => {
        if (!this.#isStreaming) this.#respond(200, text, wire)
        else if (wire === undefined) this.#client?.end(eventText(text))
        else this.#writeAs(Buffer.from(eventText(text)), wire, () => this.#client?.end())
      },
      respond: (response) => this.#respondWith(response),
      disconnect: () => this.#client?.destroy(),
    }
  }

  /** Responds to the client in place of the server. */
  #respond(status: number, body: string, wire?: WireDelivery): void {
    const headers = [
      ...(body === '' ? [] : ['Content-Type', 'application/json']),
      'Content-Length',
      String(Buffer.byteLength(body)),
    ]
    this.#options.ownHead(status, headers)
    this.#client?.head(status, '', headers)
    if (wire === undefined) this.#client?.end(body)
    else this.#writeAs(Buffer.from(body), wire, () => this.#client?.end())
  }

  /** Ends the exchange with the response of a fault, if nothing was sent yet. */
  #respondWith({ status, headers, body }: InjectedHttpResponse): void {
    const client = this.#client
    this.#sendHead = undefined
    if (client === undefined || client.isHeadSent()) return client?.destroy()
    const words = Object.entries(headers).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).flatMap((one) => [name, one]),
    )
    const all = [...words, 'Content-Length', String(Buffer.byteLength(body))]
    this.#options.ownHead(status, all)
    client.head(status, '', all)
    client.end(body)
  }

  /** Writes bytes in the way of a fault. Whatever else is to be written waits. */
  #writeAs(bytes: Buffer, wire: WireDelivery, finish: () => void): void {
    const client = this.#client
    if (client === undefined) return
    this.#waiting ??= []
    const done = (): void => {
      const waiting = this.#waiting ?? []
      this.#waiting = undefined
      for (const work of waiting) work()
    }
    const port = {
      write: client.write,
      finish: () => {
        finish()
        done()
      },
      halfClose: client.halfClose,
      reset: client.reset,
    }
    wire(bytes, port)
  }

  /** Writes to the client, after the head and whatever is being written. */
  #inOrder(work: () => void): void {
    this.#sendHead?.()
    this.#sendHead = undefined
    if (this.#waiting === undefined) work()
    else this.#waiting.push(work)
  }

  #takes(dir: Direction, bytes: Buffer, ends: RouteEnds, sse?: SseFields): boolean {
    const { record, event, link } = this.#options
    if (link.passes(bytes, dir)) return false
    const route: MessageRoute = {
      ...ends,
      record: (direction, text, marks) => record(direction, text, marks, sse),
      event,
      keepAlive: (text) => {
        if (this.#isStreaming) this.#inOrder(() => this.#client?.write(`: ${text}\n\n`))
      },
      ...(this.#canStream() && {
        progress: (text: string) => {
          this.#startStream()
          this.#inOrder(() => this.#client?.write(eventText(text)))
        },
      }),
    }
    const isTaken = link.takes({ dir, bytes, route })
    if (isTaken) this.#routes.push(route)
    return isTaken
  }

  /** The response to `initialize` carries the session in its head, so it cannot begin before the server has responded. */
  #canStream(): boolean {
    if (this.#isStreaming) return true
    const accept = findHeader(this.#options.line.headers, 'accept') ?? ''
    const isInitialize = this.#message?.kind === 'request' && this.#message.method === 'initialize'
    return accept.includes('text/event-stream') && !isInitialize && this.#client?.isHeadSent() === false
  }

  #startStream(): void {
    if (this.#isStreaming || this.#isAbandoned) return
    this.#isStreaming = true
    const headers = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-cache, no-transform']
    this.#options.ownHead(200, headers)
    this.#client?.head(200, '', headers)
  }

  /** A JSON response, which is one message. It is forwarded when it is complete. */
  #wholeBody(head: HttpResponseHead, watcher: BodyWatcher): BodyWatcher {
    const client = this.#client!
    const chunks: Uint8Array[] = []
    let length = 0
    const forward = (bytes: Uint8Array, headers: RawHeaders, wire?: WireDelivery): void => {
      const body = this.#isStreaming ? Buffer.from(this.#eventOf(head, bytes)) : bytes
      if (!this.#isStreaming) client.head(head.status, head.reason, headers)
      if (wire === undefined) client.end(body)
      else this.#writeAs(Buffer.from(body), wire, () => client.end())
    }
    const isPlain = contentEncoding(head.headers) === 'identity'
    let isPassing = false
    const pass = (bytes: Uint8Array): void => {
      watcher.chunk(bytes)
      client.write(bytes)
    }
    return {
      chunk: (bytes) => {
        if (isPassing) return pass(bytes)
        chunks.push(bytes)
        length += bytes.length
        const isUnneeded = isPlain && chunks.length === 1 && this.#passesBeginning(bytes)
        if (this.#isStreaming || (length <= MAX_HELD_BYTES && !isUnneeded)) return
        isPassing = true
        if (!isUnneeded) this.#passes('s2c', isPlain ? Buffer.concat(chunks) : undefined, TOO_LONG)
        client.head(head.status, head.reason, head.headers)
        for (const chunk of chunks.splice(0)) pass(chunk)
      },
      end: () => {
        if (isPassing) {
          watcher.end()
          return client.end()
        }
        const bytes = chunks.length === 1 ? toBuffer(chunks[0]!) : Buffer.concat(chunks)
        const ends: RouteEnds = {
          deliver: (text, wire) =>
            forward(Buffer.from(text), decodedHeaders(head.headers, Buffer.byteLength(text)), wire),
          drop: () => client.destroy(),
        }
        const message = this.#messageIn(bytes, head.headers, 's2c')
        if (message !== undefined && this.#takes('s2c', message, ends)) return
        watcher.chunk(bytes)
        watcher.end()
        // An event has no encoding of its own.
        if (this.#isStreaming && message !== undefined) forward(message, head.headers)
        else forward(bytes, head.headers)
      },
    }
  }

  /** Whether a long body can be forwarded as it arrives. A short one is complete with its first part. */
  #passesBeginning(bytes: Uint8Array): boolean {
    return bytes.length >= SHORT_BODY_BYTES && this.#options.link.passesBeginning(toBuffer(bytes), 0, 's2c')
  }

  /** The event in a stream that has begun before the server has responded. */
  #eventOf({ status }: HttpResponseHead, bytes: Uint8Array): string {
    const isMessage = status < 300 && bytes.length > 0
    return eventText(isMessage ? oneLine(bytes) : statusError(this.#message, status))
  }

  /** A compressed stream of events. It is forwarded without the compression, because single events of it may be held or changed. */
  #encodedEventStream(head: HttpResponseHead, watcher: BodyWatcher, encoding: string): BodyWatcher {
    this.#options.link.notice?.(
      `responses that are ${encoding} streams of events are forwarded without compression while messages may be held`,
    )
    const decoded = { ...head, headers: withoutHeader(head.headers, 'content-encoding') }
    const events = this.#eventStream(decoded, watcher.decoded ?? watcher)
    const { chunk, end } = events
    const cut = (): void => this.#client?.destroy()
    return decodeInto(encoding, { chunk, end, cut }, () => {})
  }

  /** A stream of events. Each is forwarded with the same bytes when it is complete, unless it is held. */
  #eventStream(head: HttpResponseHead, watcher: BodyWatcher): BodyWatcher {
    const client = this.#client!
    if (!this.#isStreaming) {
      const send = (): void => client.head(head.status, head.reason, head.headers)
      if (this.#isTaken && this.#options.link.defersHeads) this.#sendHead = send
      else send()
    }
    this.#isStreaming = true
    const events = new EventSplitter()
    let isLastTaken = false
    const pass = (bytes: Uint8Array): void => {
      watcher.chunk(bytes)
      this.#inOrder(() => client.write(bytes))
    }
    return {
      chunk: (bytes) => {
        for (const part of events.push(bytes)) {
          if (part.kind === 'first piece')
            this.#passes('s2c', part.bytes.subarray(part.bytes.indexOf('{')), TOO_LONG)
          if (part.kind !== 'late line feed')
            isLastTaken = part.kind === 'event' && this.#takesEvent(part.bytes, client)
          if (!isLastTaken) pass(part.bytes)
        }
      },
      end: () => {
        const rest = events.end()
        if (rest.length > 0) pass(rest)
        this.#whenAllSettled(() => {
          watcher.end()
          this.#inOrder(() => client.end())
        })
      },
    }
  }

  #takesEvent(bytes: Uint8Array, client: ClientPort): boolean {
    const parsed = parseEvent(bytes)
    if (parsed === undefined || !isMessageBody(parsed.data)) return false
    const { link } = this.#options
    const { sse } = parsed
    let isSettled = false
    const settled = (work: () => void): void => {
      if (isSettled) return
      isSettled = true
      work()
      if (--this.#open === 0) this.#onLastSettled?.()
    }
    const ends: RouteEnds = {
      deliver: (text, wire) =>
        settled(() => {
          const event = eventText(text, sse)
          this.#inOrder(() =>
            wire === undefined ? client.write(event) : this.#writeAs(Buffer.from(event), wire, () => {}),
          )
        }),
      drop: () => settled(() => {}),
      ...(link.repeatRoute && {
        answer: (text: string) => settled(() => link.repeatRoute?.deliver(text)),
      }),
    }
    this.#open++
    const isTaken = this.#takes('s2c', parsed.data, ends, sse)
    if (!isTaken) this.#open--
    return isTaken
  }

  #whenAllSettled(work: () => void): void {
    if (this.#open === 0) work()
    else this.#onLastSettled = work
  }
}

/**
 * Posts messages of the user with the headers of the client. What the server sends back is for the user. The route does not keep
 * the exchange in memory.
 */
function repeatRoute(
  { link, line, record, event }: ExchangeGateOptions,
  request: Buffer,
  post: RequestPorts['post'],
): NonNullable<InterceptedLink['repeatRoute']> {
  const route = {
    deliver() {},
    drop() {},
    event,
    record: (dir: Direction, text: string, marks: HeldMarks) => record(dir, text, marks),
  }
  return {
    record: (dir, text, marks) => record(dir, text, marks),
    deliver: (text) => {
      const before = classifyMessage(parseJson(request.toString('utf8')))
      post(Buffer.from(text), changedHeaders(line.headers, before, text), ({ headers }, body) => {
        for (const bytes of messagesInBody(headers, body)) link.takes({ dir: 's2c', bytes, route })
      })
    },
  }
}

function changedHeaders(
  headers: RawHeaders,
  before: Message | undefined,
  text: string,
): ReturnType<typeof remirroredHeaders> {
  const after = classifyMessage(parseJson(text))
  if (before?.kind !== 'request' || after.kind !== 'request') return {}
  const given = headers.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1]!] as const] : [],
  )
  return remirroredHeaders(Object.fromEntries(given), before, after)
}

/** How a message of an exchange ends. */
type RouteEnds = Pick<MessageRoute, 'deliver' | 'drop' | 'answer' | 'respond' | 'disconnect'>

/** Whether a head announces JSON. */
export function isJsonType(headers: RawHeaders): boolean {
  return /[/+]json\b/i.test(findHeader(headers, 'content-type') ?? '')
}

const TOO_LONG = 'it is longer than 16 MiB'

const SHORT_BODY_BYTES = 16 * 1024

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function encodingProblem(encoding: string): string {
  return `its content-encoding ${encoding} is not supported`
}

function isMessageBody(body: Buffer): boolean {
  if (body.length === 0 || body.length > MAX_HELD_BYTES) return false
  return /^\s*[{[]/.test(body.toString('latin1', 0, 64)) && isUtf8(body)
}

/** The headers of a body that was decoded, or changed. */
function decodedHeaders(headers: RawHeaders, length: number): RawHeaders {
  return withoutHeader(headers, 'content-encoding').map((word, at, all) =>
    at % 2 === 1 && all[at - 1]!.toLowerCase() === 'content-length' ? String(length) : word,
  )
}

function withoutHeader(headers: RawHeaders, name: string): RawHeaders {
  return headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== name)
}

function oneLine(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('utf8')
    .replaceAll(/[\r\n]+/g, ' ')
}

/** The text of a server-sent event with this message. */
function eventText(message: string, { id, event = 'message', retry }: SseFields = {}): string {
  const fields = [
    ...(id === undefined ? [] : [`id: ${id}\n`]),
    ...(retry === undefined ? [] : [`retry: ${retry}\n`]),
  ]
  const data = message.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `event: ${event}\n${fields.join('')}${data.join('')}\n`
}

/** An error for a client whose response has begun already, so that it cannot see the status. */
function statusError(request: Message | undefined, status: number): string {
  const id = request !== undefined && 'id' in request ? request.id : null
  const error = {
    code: ERROR_CODE_BASE - status,
    message: `reelay: the server answered with status ${status} after the message was held`,
    data: { by: 'reelay', status },
  }
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}

/** Outside every range that JSON-RPC and MCP reserve; the last digits are an HTTP status. */
const ERROR_CODE_BASE = -39_000

/** The message of one event, with the other fields. Returns `undefined` for an event without one. */
function parseEvent(bytes: Uint8Array): { readonly data: Buffer; readonly sse: SseFields } | undefined {
  let found: { data: Buffer; sse: SseFields } | undefined
  const reader = new SseReader({
    maxBytes: MAX_HELD_BYTES,
    onEvent: ({ data, ...sse }) => {
      if (data?.isComplete === true) found = { data: Buffer.concat(data.parts), sse }
    },
    onComment: () => {},
  })
  reader.push(bytes)
  return found
}

function messagesInBody(headers: RawHeaders, encoded: Buffer): readonly Buffer[] {
  const encoding = contentEncoding(headers)
  const body = isDecodable(encoding) ? decodeWhole(encoded, encoding, MAX_HELD_BYTES) : undefined
  if (!Buffer.isBuffer(body)) return []
  if (!isEventStream(headers)) return isMessageBody(body) ? [body] : []
  const events = new EventSplitter().push(body)
  return events.flatMap(({ bytes }) => parseEvent(bytes)?.data ?? []).filter(isMessageBody)
}

/** A part of a stream of events. */
interface StreamPart {
  readonly bytes: Buffer
  /**
   * `piece` is a piece of an event that is too long to be held, and `first piece` the first one. A `late line feed` belongs to
   * the event before it, which was complete with its carriage return.
   */
  readonly kind: 'event' | 'late line feed' | 'first piece' | 'piece'
}

/** Splits a stream into events, each with the blank line after it. Looks at every byte once. */
class EventSplitter {
  /** The event that is not complete. */
  #parts: Buffer[] = []
  #length = 0
  #isLineEmpty = true
  /** A line feed after a carriage return at the end of a chunk ends no further line. */
  #endedInReturn = false
  #isTooLong = false

  push(chunk: Uint8Array): readonly StreamPart[] {
    const bytes = toBuffer(chunk)
    const found: StreamPart[] = []
    let [start, at] = [0, 0]
    if (this.#endedInReturn && bytes[0] === LINE_FEED) {
      at = 1
      const isAfterEvent = this.#length === 0 && !this.#isTooLong
      if (isAfterEvent) found.push({ bytes: bytes.subarray(0, 1), kind: 'late line feed' })
      if (isAfterEvent) start = 1
    }
    if (bytes.length > 0) this.#endedInReturn = false
    let feed = bytes.indexOf(LINE_FEED, at)
    let carriage = bytes.indexOf(CARRIAGE_RETURN, at)
    while (feed >= 0 || carriage >= 0) {
      const isCarriage = carriage >= 0 && (feed < 0 || carriage < feed)
      const lineEnd = isCarriage ? carriage : feed
      const isBlank = this.#isLineEmpty && lineEnd === at
      at = lineEnd + (isCarriage && bytes[lineEnd + 1] === LINE_FEED ? 2 : 1)
      this.#endedInReturn = isCarriage && at === bytes.length && at === lineEnd + 1
      this.#isLineEmpty = true
      if (isBlank) {
        found.push(this.#finish(bytes.subarray(start, at)))
        start = at
      }
      if (feed >= 0 && feed < at) feed = bytes.indexOf(LINE_FEED, at)
      if (carriage >= 0 && carriage < at) carriage = bytes.indexOf(CARRIAGE_RETURN, at)
    }
    if (at < bytes.length) this.#isLineEmpty = false
    if (start < bytes.length) this.#parts.push(bytes.subarray(start))
    this.#length += bytes.length - start
    if (this.#length > MAX_HELD_BYTES || this.#isTooLong) found.push(...this.#takePiece())
    return found
  }

  end(): Buffer {
    return Buffer.concat(this.#parts)
  }

  #finish(last: Buffer): StreamPart {
    const bytes = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    const kind = this.#isTooLong ? 'piece' : 'event'
    this.#parts = []
    this.#length = 0
    this.#isTooLong = false
    return { bytes, kind }
  }

  #takePiece(): readonly StreamPart[] {
    if (this.#parts.length === 0) return []
    const kind = this.#isTooLong ? 'piece' : 'first piece'
    const bytes = Buffer.concat(this.#parts)
    this.#parts = []
    this.#length = 0
    this.#isTooLong = true
    return [{ bytes, kind }]
  }
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
