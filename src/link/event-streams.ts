import type { HttpResponseHead } from '../http/client/response-reader.ts'
import { isEventStream, type RawHeaders } from '../http/headers.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { SseReader, type SseEvent } from '../protocol/sse.ts'
import type { HttpRequests, OpenRequest } from './http-requests.ts'

interface ServerEventStreamsOptions {
  readonly requests: HttpRequests
  readonly headers: (lastEventId: string | undefined) => RawHeaders
  /** Receives what the server sends on the standing stream. */
  readonly onText: (text: string) => void
  readonly schedule: RetryScheduler
}

/** The GET streams of a link: a standing one for messages that belong to no request, and those that continue an interrupted response. */
export class ServerEventStreams {
  readonly #options: ServerEventStreamsOptions
  #standing: EventStream | undefined
  #isInitialized = false

  constructor(options: ServerEventStreamsOptions) {
    this.#options = options
  }

  /** Opens the standing stream. If the server refuses it before the session is initialized, it is opened again afterwards. */
  openStanding(): void {
    const isEarly = !this.#isInitialized
    const onGone = (): void => {
      if (!isEarly) return
      this.#standing = undefined
      if (this.#isInitialized) this.openStanding()
    }
    this.#standing ??= new EventStream(this.#options, { onText: this.#options.onText, onGone })
  }

  sessionInitialized(): void {
    this.#isInitialized = true
    this.openStanding()
  }

  /** Continues an interrupted stream after its last event. */
  resume(from: StreamPosition, handlers: EventStreamHandlers): OpenStream {
    return new EventStream(this.#options, handlers, from)
  }

  close(): void {
    this.#standing?.close()
  }
}

export interface OpenStream {
  close(): void
}

/** Runs a function after a delay. */
export type RetryScheduler = (act: () => void, milliseconds: number) => void

export const scheduleRetry: RetryScheduler = (act, milliseconds) => void setTimeout(act, milliseconds).unref()

/** Where a stream can be continued, and when. */
export interface StreamPosition {
  readonly lastEventId: string | undefined
  readonly delay: ReconnectDelay
}

interface EventStreamHandlers {
  readonly onText: (text: string) => void
  /** The server has no such stream, or cannot be reached any more. */
  readonly onGone: (why: string) => void
}

/** A GET stream. The server may close it at any time; it is then opened again. */
class EventStream implements OpenStream {
  readonly #link: ServerEventStreamsOptions
  readonly #handlers: EventStreamHandlers
  #position: StreamPosition
  #request: OpenRequest | undefined
  #failures = 0
  #isClosed = false

  constructor(link: ServerEventStreamsOptions, handlers: EventStreamHandlers, from?: StreamPosition) {
    this.#link = link
    this.#handlers = handlers
    this.#position = from ?? { lastEventId: undefined, delay: new ReconnectDelay() }
    if (from === undefined) this.#open()
    else this.#reopen()
  }

  close(): void {
    this.#isClosed = true
    this.#request?.abort()
  }

  #reopen(): void {
    this.#link.schedule(() => this.#open(), this.#position.delay.next())
  }

  #open(): void {
    if (this.#isClosed) return
    const { requests, headers } = this.#link
    let body: HttpBodyReader | undefined
    this.#request = requests.send(
      { method: 'GET', headers: headers(this.#position.lastEventId) },
      {
        onHead: (head) => {
          body = new HttpBodyReader(head, this.#handlers, this.#position)
          this.#failures = 0
          if (!body.isAcceptedStream) this.#giveUp(`the server answered HTTP ${head.status}`)
        },
        onBody: (chunk) => body?.push(chunk),
        onEnd: () => this.#interrupted(body),
        onFail: (error) => {
          if (body === undefined && ++this.#failures >= MAX_FAILURES) this.#giveUp(error.message)
          this.#interrupted(body)
        },
      },
    )
  }

  #interrupted(body: HttpBodyReader | undefined): void {
    this.#request = undefined
    if (body !== undefined) this.#position = body.position
    if (!this.#isClosed) this.#reopen()
  }

  #giveUp(why: string): void {
    this.#isClosed = true
    this.#handlers.onGone(why)
  }
}

/** A stream is given up after this many attempts in a row that did not reach the server. */
const MAX_FAILURES = 5

interface HttpBodyHandlers {
  readonly onText: (text: string) => void
  /** An event is too long to be held in memory. */
  readonly onOverlong?: (bytes: number) => void
  /** An event with another name than `message`. */
  readonly onOtherEvent?: (event: string, data: string) => void
}

/** Reads the body of a response: one JSON text, or a stream of events. */
export class HttpBodyReader {
  readonly status: number
  readonly isStream: boolean
  readonly #handlers: HttpBodyHandlers
  readonly #reader: SseReader | undefined
  readonly #parts: Buffer[] = []
  #lastEventId: string | undefined
  #delay: ReconnectDelay | undefined

  constructor({ status, headers }: HttpResponseHead, handlers: HttpBodyHandlers, from?: StreamPosition) {
    this.status = status
    this.#handlers = handlers
    this.#lastEventId = from?.lastEventId
    this.#delay = from?.delay
    this.isStream = isEventStream(headers)
    if (this.isStream)
      this.#reader = new SseReader({
        maxBytes: DEFAULT_MAX_LINE_BYTES,
        onEvent: (event) => this.#event(event),
        onComment: () => {},
      })
  }

  get isAcceptedStream(): boolean {
    return this.isStream && this.status < 300
  }

  /** Where the stream can be continued after an interruption. */
  get position(): StreamPosition {
    return { lastEventId: this.#lastEventId, delay: this.#delay ?? new ReconnectDelay() }
  }

  push(chunk: Buffer): void {
    if (this.#reader === undefined) this.#parts.push(chunk)
    else this.#reader.push(chunk)
  }

  /** The text of a body that is not a stream. */
  text(): string {
    const [first] = this.#parts
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts)
    return whole.toString('utf8')
  }

  #event({ id, event = 'message', retry, data }: SseEvent): void {
    if (id !== undefined || retry !== undefined) this.#delay ??= new ReconnectDelay()
    if (id !== undefined) this.#lastEventId = id === '' ? undefined : id
    if (retry !== undefined) this.#delay?.setBase(retry)
    if (id !== undefined || data !== undefined) this.#delay?.reset()
    if (data === undefined || data.length === 0) return // such an event only sets the position
    if (!data.isComplete) return this.#handlers.onOverlong?.(data.length)
    const text = Buffer.concat(data.parts).toString('utf8')
    if (event === 'message') this.#handlers.onText(text)
    else this.#handlers.onOtherEvent?.(event, text)
  }
}

/** How long to wait before a stream is opened again: as long as the server asks for, and longer while nothing arrives. */
export class ReconnectDelay {
  #base = DEFAULT_DELAY_MS
  #attempts = 0

  /** Takes the `retry` field of the server, within bounds: clients must neither busy-loop nor wait for hours. */
  setBase(milliseconds: number): void {
    this.#base = Math.min(Math.max(milliseconds, MIN_DELAY_MS), MAX_DELAY_MS)
  }

  /** Something arrived by the stream. */
  reset(): void {
    this.#attempts = 0
  }

  next(): number {
    return Math.min(this.#base * 2 ** Math.min(this.#attempts++, MAX_DOUBLINGS), MAX_DELAY_MS)
  }
}

const DEFAULT_DELAY_MS = 1000
const MIN_DELAY_MS = 10
const MAX_DELAY_MS = 30_000
const MAX_DOUBLINGS = 12
