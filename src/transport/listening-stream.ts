import type { HttpClient, PendingHttpRequest } from '../http/client/http-client.ts'
import { HttpBodyReader } from './posted-answer.ts'
import { ReconnectDelay } from './reconnect-delay.ts'

export interface ServerEventStreamOptions {
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
export class ServerEventStream {
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
