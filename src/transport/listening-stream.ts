import type { HttpClient, HttpExchange } from './http1/client.ts'
import { PostedAnswer } from './posted-answer.ts'
import { ReconnectDelay } from './reconnect-delay.ts'

export interface ListeningOptions {
  readonly client: HttpClient
  readonly url: URL
  readonly headers: () => Readonly<Record<string, string>>
  readonly onText: (text: string) => void
  /** Goes on with a stream that was cut. */
  readonly cut?: CutStream
  /** The server has no such stream, or none any more. */
  readonly onRefused?: (status: number) => void
  readonly later: Later
}

/** A stream that ended before everything was said, and where. */
export interface CutStream {
  readonly lastEventId: string
  readonly delay: ReconnectDelay
}

/** Does something after so many milliseconds. */
export type Later = (act: () => void, milliseconds: number) => void

/** A GET stream of a legacy session: by it the server speaks of its own accord, or goes on where another stream was cut. */
export class ListeningStream {
  readonly #options: ListeningOptions
  #exchange: HttpExchange | undefined
  readonly #delay: ReconnectDelay
  #lastEventId: string | undefined
  #isRefused = false
  #isClosed = false

  constructor(options: ListeningOptions) {
    this.#options = options
    this.#lastEventId = options.cut?.lastEventId
    this.#delay = options.cut?.delay ?? new ReconnectDelay()
  }

  /** Opens it at once, or when the server wants to be asked again. */
  start(): void {
    if (this.#options.cut === undefined) this.#open()
    else this.#openLater()
  }

  #openLater(): void {
    this.#options.later(() => this.#open(), this.#delay.next())
  }

  #open(): void {
    if (this.#exchange !== undefined || this.#isRefused || this.#isClosed) return
    const last = this.#lastEventId
    const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
    let answer: PostedAnswer | undefined
    this.#exchange = this.#options.client.send(
      { method: 'GET', url: this.#options.url, headers: { ...headers, ...this.#options.headers() } },
      {
        onHead: (head) => (answer = this.#begin(new PostedAnswer(head, this.#handlers))),
        onBody: (chunk) => answer?.push(chunk),
        onEnd: () => this.#over(),
        onError: () => this.#over(),
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
      this.#delay.heard()
      this.#options.onText(text)
    },
    onEventId: (id: string): void => {
      this.#delay.heard()
      this.#lastEventId = id
    },
    onRetry: (milliseconds: number): void => this.#delay.told(milliseconds),
  }

  #begin(answer: PostedAnswer): PostedAnswer {
    this.#isRefused = answer.status >= 300 || !answer.isStream
    if (this.#isRefused) this.#options.onRefused?.(answer.status)
    return answer
  }

  // The server closed the stream, as it may: the client is to come again.
  #over(): void {
    this.#exchange = undefined
    if (!this.#isRefused && !this.#isClosed) this.#openLater()
  }
}
