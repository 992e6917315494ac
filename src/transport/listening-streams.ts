import { ListeningStream, type CutStream, type Later, type ListeningOptions } from './listening-stream.ts'

export interface ListeningStreamsOptions extends Pick<ListeningOptions, 'client' | 'url' | 'headers'> {
  /** `of` is the key of the request whose answer is gone on with in that stream. */
  readonly onText: (text: string, of?: string) => void
  /** When to come back to a stream that ended. */
  readonly later?: Later | undefined
}

/** The GET streams of a link: the one for what the server says of its own accord, and one for each answer that was cut. */
export class ListeningStreams {
  readonly #options: ListeningStreamsOptions
  #standing: ListeningStream | undefined
  readonly #resumed = new Map<string, ListeningStream>()
  #isGreeted = false

  constructor(options: ListeningStreamsOptions) {
    this.#options = options
  }

  /** Opens the standing stream. A server that does not let us listen before it is greeted is asked again when it was. */
  stand(): void {
    const isEarly = !this.#isGreeted
    const onRefused = (): void => {
      if (!isEarly) return
      this.#standing = undefined
      if (this.#isGreeted) this.stand()
    }
    this.#standing ??= this.#open({ onRefused })
  }

  /** The server knows now that the session has begun. */
  greeted(): void {
    this.#isGreeted = true
    this.stand()
  }

  /** Goes on with the answer to a request where its stream was cut. */
  resume(key: string, cut: CutStream, onRefused: (status: number) => void): void {
    this.#resumed.set(key, this.#open({ cut, onRefused }, key))
  }

  /** Nothing more is wanted of the answer to a request. */
  leave(key: string): void {
    this.#resumed.get(key)?.close()
    this.#resumed.delete(key)
  }

  close(): void {
    for (const stream of [...this.#resumed.values(), this.#standing]) stream?.close()
  }

  #open(why: Pick<ListeningOptions, 'cut' | 'onRefused'>, key?: string): ListeningStream {
    const { client, url, headers, onText, later = LATER } = this.#options
    const stream = new ListeningStream({
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

const LATER: Later = (act, milliseconds) => void setTimeout(act, milliseconds).unref()
