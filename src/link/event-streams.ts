import type { HttpClient, PendingHttpRequest } from '../http/client/http-client.ts'
import type { HttpResponseHead } from '../http/client/response-reader.ts'
import { findHeader } from '../http/headers.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { SseReader, type SseEvent } from '../protocol/sse.ts'

interface ServerEventStreamsOptions extends Pick<ServerEventStreamOptions, 'client' | 'url' | 'headers'> {
  /** `of` is the key of the request whose answer is gone on with in that stream. */
  readonly onText: (text: string, of?: string) => void
  /** When to come back to a stream that ended. */
  readonly later?: RetryScheduler | undefined
}

/** The GET streams of a link: the one for what the server says of its own accord, and one for each answer that was cut. */
export class ServerEventStreams {
  readonly #options: ServerEventStreamsOptions
  #standing: ServerEventStream | undefined
  readonly #resumed = new Map<string, ServerEventStream>()
  #isInitialized = false

  constructor(options: ServerEventStreamsOptions) {
    this.#options = options
  }

  /** Opens the standing stream. A server that does not let us listen before it is greeted is asked again when it was. */
  openStanding(): void {
    const isEarly = !this.#isInitialized
    const onRefused = (): void => {
      if (!isEarly) return
      this.#standing = undefined
      if (this.#isInitialized) this.openStanding()
    }
    this.#standing ??= this.#open({ onRefused })
  }

  /** The server knows now that the session has begun. */
  sessionInitialized(): void {
    this.#isInitialized = true
    this.openStanding()
  }

  /** Goes on with the answer to a request where its stream was cut. */
  resume(key: string, cut: InterruptedStream, onRefused: (status: number) => void): void {
    this.#resumed.set(key, this.#open({ cut, onRefused }, key))
  }

  /** Nothing more is wanted of the answer to a request. */
  stopResuming(key: string): void {
    this.#resumed.get(key)?.close()
    this.#resumed.delete(key)
  }

  close(): void {
    for (const stream of [...this.#resumed.values(), this.#standing]) stream?.close()
  }

  #open(why: Pick<ServerEventStreamOptions, 'cut' | 'onRefused'>, key?: string): ServerEventStream {
    const { client, url, headers, onText, later = scheduleRetry } = this.#options
    const stream = new ServerEventStream({
      client,
      url,
      headers,
      onText: (text) => onText(text, key),
      later,
      ...why,
    })
    stream.start()
    return stream
  }
}

const scheduleRetry: RetryScheduler = (act, milliseconds) => void setTimeout(act, milliseconds).unref()

interface ServerEventStreamOptions {
  readonly client: HttpClient
  readonly url: URL
  readonly headers: () => Readonly<Record<string, string>>
  readonly onText: (text: string) => void
  /** Goes on with a stream that was cut. */
  readonly cut?: InterruptedStream
  /** The server has no such stream, or none any more. */
  readonly onRefused?: (status: number) => void
  readonly later: RetryScheduler
}

/** A stream that ended before everything was said, and where. */
export interface InterruptedStream {
  readonly lastEventId: string
  readonly delay: ReconnectDelay
}

/** Does something after so many milliseconds. */
export type RetryScheduler = (act: () => void, milliseconds: number) => void

/** A GET stream of a legacy session: by it the server speaks of its own accord, or goes on where another stream was cut. */
class ServerEventStream {
  readonly #options: ServerEventStreamOptions
  #exchange: PendingHttpRequest | undefined
  readonly #delay: ReconnectDelay
  #lastEventId: string | undefined
  #isRefused = false
  #isClosed = false

  constructor(options: ServerEventStreamOptions) {
    this.#options = options
    this.#lastEventId = options.cut?.lastEventId
    this.#delay = options.cut?.delay ?? new ReconnectDelay()
  }

  /** Opens it at once, or when the server wants to be asked again. */
  start(): void {
    if (this.#options.cut === undefined) this.#open()
    else this.#reopenLater()
  }

  #reopenLater(): void {
    this.#options.later(() => this.#open(), this.#delay.next())
  }

  #open(): void {
    if (this.#exchange !== undefined || this.#isRefused || this.#isClosed) return
    const last = this.#lastEventId
    const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
    let answer: HttpBodyReader | undefined
    this.#exchange = this.#options.client.send(
      { method: 'GET', url: this.#options.url, headers: { ...headers, ...this.#options.headers() } },
      {
        onHead: (head) => (answer = this.#checkAccepted(new HttpBodyReader(head, this.#handlers))),
        onBody: (chunk) => answer?.push(chunk),
        onEnd: () => this.#onEnd(),
        onError: () => this.#onEnd(),
      },
    )
  }

  close(): void {
    this.#isClosed = true
    this.#exchange?.abort()
    this.#exchange = undefined
  }

  readonly #handlers = {
    onText: (text: string): void => {
      this.#delay.reset()
      this.#options.onText(text)
    },
    onEventId: (id: string): void => {
      this.#delay.reset()
      this.#lastEventId = id
    },
    onRetry: (milliseconds: number): void => this.#delay.setBase(milliseconds),
  }

  #checkAccepted(answer: HttpBodyReader): HttpBodyReader {
    this.#isRefused = answer.status >= 300 || !answer.isStream
    if (this.#isRefused) this.#options.onRefused?.(answer.status)
    return answer
  }

  // The server closed the stream, as it may: the client is to come again.
  #onEnd(): void {
    this.#exchange = undefined
    if (!this.#isRefused && !this.#isClosed) this.#reopenLater()
  }
}

interface HttpBodyHandlers {
  readonly onText: (text: string) => void
  readonly onEventId: (id: string) => void
  /** The server says how many milliseconds to wait before the stream is opened again. */
  readonly onRetry: (milliseconds: number) => void
}

/** The body of an answer to a POST or GET: one JSON text, or a stream of events. */
export class HttpBodyReader {
  readonly status: number
  readonly isStream: boolean
  readonly #handlers: HttpBodyHandlers
  readonly #reader: SseReader | undefined
  readonly #parts: Buffer[] = []

  constructor({ status, headers }: HttpResponseHead, handlers: HttpBodyHandlers) {
    this.status = status
    this.#handlers = handlers
    this.isStream =
      findHeader(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') === true
    if (this.isStream)
      this.#reader = new SseReader({
        maxBytes: DEFAULT_MAX_LINE_BYTES,
        onEvent: (event) => this.#event(event),
        onComment: () => {},
      })
  }

  push(chunk: Buffer): void {
    if (this.#reader === undefined) this.#parts.push(chunk)
    else this.#reader.push(chunk)
  }

  /** The text of a body that is no stream. */
  body(): string {
    const [first] = this.#parts
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts)
    return whole.toString('utf8')
  }

  #event({ id, event, retry, data }: SseEvent): void {
    if (id !== undefined && id !== '') this.#handlers.onEventId(id)
    if (retry !== undefined) this.#handlers.onRetry(retry)
    if (data === undefined || data.length === 0 || (event !== undefined && event !== 'message')) return
    this.#handlers.onText(Buffer.concat(data.parts).toString('utf8'))
  }
}

/** How long to wait before a stream that ended is opened again: as long as the server says, and longer while nothing comes of it. */
export class ReconnectDelay {
  #base: number
  #failedAttempts = 0

  /** Milliseconds, until the server says otherwise. */
  constructor(base: number = DEFAULT_DELAY_MS) {
    this.#base = base
  }

  /** What the server said in a `retry` field, within bounds: no server makes us knock without end, or wait for hours. */
  setBase(milliseconds: number): void {
    this.#base = Math.min(Math.max(milliseconds, MIN_DELAY_MS), MAX_DELAY_MS)
  }

  /** Something came by the stream. */
  reset(): void {
    this.#failedAttempts = 0
  }

  next(): number {
    return Math.min(this.#base * 2 ** Math.min(this.#failedAttempts++, MAX_DOUBLINGS), MAX_DELAY_MS)
  }
}

const DEFAULT_DELAY_MS = 1000
const MIN_DELAY_MS = 10
const MAX_DELAY_MS = 30_000
const MAX_DOUBLINGS = 12
