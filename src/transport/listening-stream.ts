import type { HttpClient, HttpExchange } from './http1/client.ts'
import { PostedAnswer } from './posted-answer.ts'

export interface ListeningOptions {
  readonly client: HttpClient
  readonly url: URL
  readonly headers: () => Readonly<Record<string, string>>
  readonly onText: (text: string) => void
  /** Goes on after this event of a stream that was cut. */
  readonly lastEventId?: string
}

/** A GET stream of a legacy session: by it the server speaks of its own accord, or goes on where another stream was cut. */
export class ListeningStream {
  readonly #options: ListeningOptions
  #exchange: HttpExchange | undefined
  #lastEventId: string | undefined
  #isRefused = false
  #isClosed = false

  constructor(options: ListeningOptions) {
    this.#options = options
    this.#lastEventId = options.lastEventId
  }

  open(): void {
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
    onText: (text: string): void => this.#options.onText(text),
    onEventId: (id: string): void => void (this.#lastEventId = id),
  }

  #begin(answer: PostedAnswer): PostedAnswer {
    this.#isRefused = answer.status >= 300 || !answer.isStream
    return answer
  }

  // The server closed the stream, as it may: the client is to come again.
  #over(): void {
    this.#exchange = undefined
    if (!this.#isRefused && !this.#isClosed) setTimeout(() => this.open(), RETRY).unref()
  }
}

const RETRY = 1000
