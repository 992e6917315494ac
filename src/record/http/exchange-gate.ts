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
import type { HeldMarks, LinkInterceptor, MessageRoute } from '../intercept/link-interceptor.ts'

interface ExchangeGateOptions {
  readonly line: RequestLine
  /** The connection, once it is known. A client may name its session only with the request. */
  readonly link: LinkInterceptor
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

/** A longer body is not held. */
const MAX_HELD_BYTES = 16 * 1024 * 1024

class HttpExchangeGate implements ExchangeGate {
  readonly #options: ExchangeGateOptions
  #message: Message | undefined
  #client: ClientPort | undefined
  #isStreaming = false
  #isAbandoned = false
  /** The routes of the messages that may be held. */
  readonly #routes: MessageRoute[] = []
  /** Events that are held. The stream ends only after the last one. */
  #open = 0
  #onLastSettled: (() => void) | undefined

  constructor(options: ExchangeGateOptions) {
    this.#options = options
  }

  readonly request = (body: Buffer, { send, post }: RequestPorts, client: ClientPort): void => {
    const { request, link, line } = this.#options
    this.#client = client
    const isHoldable = line.method === 'POST' && isPlainBody(line.headers) && isMessageBody(body)
    this.#message = isHoldable ? classifyMessage(parseJson(body.toString('utf8'))) : undefined
    if (this.#message !== undefined) link.repeatRoute = this.#repeatRoute(post)
    // The end writes the head, if that has waited for the body.
    if (isHoldable && this.#takes('c2s', body, this.#requestEnds(send))) return request.end()
    request.chunk(body)
    request.end()
    send(body)
  }

  readonly response = (
    head: HttpResponseHead,
    client: ClientPort,
    watcher: BodyWatcher,
  ): BodyWatcher | undefined => {
    this.#client = client
    if (isEventStream(head.headers) && isPlainBody(head.headers)) return this.#eventStream(head, watcher)
    const isJson = isPlainBody(head.headers) && isJsonType(head.headers)
    return isJson || this.#isStreaming ? this.#wholeBody(head, watcher) : undefined
  }

  readonly abandon = (why: string): void => {
    this.#isAbandoned = true
    for (const route of this.#routes.splice(0)) this.#options.link.abandon(route, why)
  }

  #requestEnds(send: ForwardRequest): RouteEnds {
    const isRequest = this.#message?.kind === 'request' || this.#message?.kind === 'batch'
    return {
      deliver: (text) => {
        if (this.#isAbandoned) return
        const length = { 'content-length': String(Buffer.byteLength(text)), 'accept-encoding': 'identity' }
        send(Buffer.from(text), { ...this.#changedHeaders(text), ...length })
      },
      // A client that waits for a response sees that the connection is lost. Other messages have none.
      drop: () => (isRequest ? this.#client?.destroy() : this.#respond(202, '')),
      answer: (text) => {
        if (this.#isStreaming) this.#client?.end(eventText(text))
        else this.#respond(200, text)
      },
    }
  }

  /** Posts a message of the user with the headers of the client. What the server sends back is for the user. */
  #repeatRoute(post: RequestPorts['post']): NonNullable<LinkInterceptor['repeatRoute']> {
    const { link, record, event } = this.#options
    const ends = {
      deliver() {},
      drop() {},
      event,
      record: (dir: Direction, text: string, marks: HeldMarks) => record(dir, text, marks),
    }
    return {
      record: (dir, text, marks) => record(dir, text, marks),
      deliver: (text) =>
        post(Buffer.from(text), ({ headers }, body) => {
          for (const bytes of messagesInBody(headers, body)) link.takes({ dir: 's2c', bytes, route: ends })
        }),
    }
  }

  #changedHeaders(text: string): Readonly<Record<string, string>> {
    const after = classifyMessage(parseJson(text))
    if (this.#message?.kind !== 'request' || after.kind !== 'request') return {}
    const { headers } = this.#options.line
    const given = headers.flatMap((name, at) =>
      at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1]!] as const] : [],
    )
    return remirroredHeaders(Object.fromEntries(given), this.#message, after)
  }

  /** Responds to the client in place of the server. */
  #respond(status: number, body: string): void {
    const headers = [
      ...(body === '' ? [] : ['Content-Type', 'application/json']),
      'Content-Length',
      String(Buffer.byteLength(body)),
    ]
    this.#options.ownHead(status, headers)
    this.#client?.head(status, '', headers)
    this.#client?.end(body)
  }

  #takes(dir: Direction, bytes: Buffer, ends: RouteEnds, sse?: SseFields): boolean {
    const { record, event, link } = this.#options
    const route: MessageRoute = {
      ...ends,
      record: (direction, text, marks) => record(direction, text, marks, sse),
      event,
      keepAlive: (text) => {
        if (this.#isStreaming) this.#client?.write(`: ${text}\n\n`)
      },
      ...(this.#canStream() && {
        progress: (text: string) => {
          this.#startStream()
          this.#client?.write(eventText(text))
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
    const forward = (bytes: Uint8Array, headers: RawHeaders): void => {
      if (this.#isStreaming)
        return client.end(
          head.status < 300 && bytes.length > 0
            ? eventText(oneLine(bytes))
            : eventText(statusError(this.#message, head.status)),
        )
      client.head(head.status, head.reason, headers)
      client.end(bytes)
    }
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
        if (length <= MAX_HELD_BYTES || this.#isStreaming) return
        isPassing = true
        client.head(head.status, head.reason, head.headers)
        for (const chunk of chunks.splice(0)) pass(chunk)
      },
      end: () => {
        if (isPassing) {
          watcher.end()
          return client.end()
        }
        const bytes = Buffer.concat(chunks)
        const ends: RouteEnds = {
          deliver: (text) => forward(Buffer.from(text), withLength(head.headers, Buffer.byteLength(text))),
          drop: () => client.destroy(),
        }
        if (isMessageBody(bytes) && this.#takes('s2c', bytes, ends)) return
        watcher.chunk(bytes)
        watcher.end()
        forward(bytes, head.headers)
      },
    }
  }

  /** A stream of events. Each is forwarded with the same bytes when it is complete, unless it is held. */
  #eventStream(head: HttpResponseHead, watcher: BodyWatcher): BodyWatcher {
    const client = this.#client!
    if (!this.#isStreaming) client.head(head.status, head.reason, head.headers)
    this.#isStreaming = true
    const events = new EventSplitter()
    const pass = (bytes: Uint8Array): void => {
      watcher.chunk(bytes)
      client.write(bytes)
    }
    return {
      chunk: (bytes) => {
        for (const event of events.push(bytes)) if (!this.#takesEvent(event, client)) pass(event)
      },
      end: () => {
        const rest = events.end()
        if (rest.length > 0) pass(rest)
        this.#whenAllSettled(() => {
          watcher.end()
          client.end()
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
      deliver: (text) => settled(() => client.write(eventText(text, sse))),
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

/** How a message of an exchange ends. */
type RouteEnds = Pick<MessageRoute, 'deliver' | 'drop' | 'answer'>

/** Whether a head announces JSON. */
export function isJsonType(headers: RawHeaders): boolean {
  return /[/+]json\b/i.test(findHeader(headers, 'content-type') ?? '')
}

function isPlainBody(headers: RawHeaders): boolean {
  const encoding = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  return encoding === 'identity'
}

function isMessageBody(body: Buffer): boolean {
  if (body.length === 0 || body.length > MAX_HELD_BYTES) return false
  return /^\s*[{[]/.test(body.toString('latin1', 0, 64)) && isUtf8(body)
}

function withLength(headers: RawHeaders, length: number): RawHeaders {
  return headers.map((word, at) =>
    at % 2 === 1 && headers[at - 1]!.toLowerCase() === 'content-length' ? String(length) : word,
  )
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
  return `event: ${event}\n${fields.join('')}data: ${message}\n\n`
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

function messagesInBody(headers: RawHeaders, body: Buffer): readonly Buffer[] {
  if (!isEventStream(headers)) return isMessageBody(body) ? [body] : []
  const events = new EventSplitter().push(body)
  return events.flatMap((event) => parseEvent(event)?.data ?? []).filter(isMessageBody)
}

/** Splits a stream into events, each with the blank line after it. */
class EventSplitter {
  #rest: Buffer = Buffer.alloc(0)

  push(chunk: Uint8Array): readonly Buffer[] {
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk])
    const events: Buffer[] = []
    let start = 0
    for (let end = endOfEvent(bytes, start); end > 0; end = endOfEvent(bytes, start)) {
      events.push(bytes.subarray(start, end))
      start = end
    }
    this.#rest = bytes.subarray(start)
    return events
  }

  end(): Buffer {
    return this.#rest
  }
}

/** The position after the blank line that ends an event, or -1. */
function endOfEvent(bytes: Buffer, start: number): number {
  const ends = BLANK_LINES.flatMap((blank) => {
    const at = bytes.indexOf(blank, start)
    return at < 0 ? [] : [at + blank.length]
  })
  return ends.length === 0 ? -1 : Math.min(...ends)
}

const BLANK_LINES = ['\n\n', '\r\n\r\n', '\r\r']
