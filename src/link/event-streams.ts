import {
  ServerEventStream,
  type InterruptedStream,
  type RetryScheduler,
  type ServerEventStreamOptions,
} from '../transport/listening-stream.ts'

export interface ServerEventStreamsOptions extends Pick<
  ServerEventStreamOptions,
  'client' | 'url' | 'headers'
> {
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
