import { findHeader, type RawHeaders } from '../../http/headers.ts'
import type { Direction } from '../../wire/direction.ts'
import { undeclaredBodySink } from '../any-body.ts'
import { canDecode, decodeInto } from '../body-decoder.ts'
import { eventStreamSink, ignoredBody, wholeBodySink, type BodySinkOptions, type BodySink } from './bodies.ts'
import type { ExchangeFrames } from './exchange-frames.ts'
import { filteredFrames } from '../looked-frames.ts'
import type { MessageOrigin, MessageFilter } from '../message-filter.ts'

export interface BodyRecorderOptions {
  readonly maxBytes: number
  readonly look?: MessageFilter | undefined
  /** Without it nobody said that the bodies are MCP. */
  readonly url?: URL
}

/** One body, as its head announces it. */
export interface AnnouncedBody {
  readonly dir: Direction
  readonly headers: RawHeaders
  readonly link: MessageOrigin
  /** Told what a legacy server names as the place to post to. */
  readonly onEndpoint: (data: string) => void
}

/** Puts each body on the tape as what its head says that it is. */
export class BodyRecorder {
  readonly #frames: ExchangeFrames
  readonly #options: BodyRecorderOptions
  readonly #decoding = new Set<Promise<void>>()

  constructor(frames: ExchangeFrames, options: BodyRecorderOptions) {
    this.#frames = frames
    this.#options = options
  }

  begin(body: AnnouncedBody): BodySink {
    const encoding = findHeader(body.headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity') return this.#frames.deferred(this.#sinkFor(body))
    if (canDecode(encoding))
      return decodeInto(encoding, this.#frames.deferred(this.#sinkFor(body)), this.#track)
    if (this.#options.url === undefined) return ignoredBody
    return this.#frames.deferred(wholeBodySink(this.#optionsFor(body), `content-encoding ${encoding}`))
  }

  /** The bodies whose last bytes are still being decoded. */
  get decoding(): ReadonlySet<Promise<void>> {
    return this.#decoding
  }

  #sinkFor(body: AnnouncedBody): BodySink {
    const options = this.#optionsFor(body)
    if (body.dir === 's2c' && isEventStreamBody(body.headers))
      return eventStreamSink({
        ...options,
        onEvent: (event, details) => this.#frames.eventAtOnce(body.link.place, event, details),
        onEndpoint: body.onEndpoint,
      })
    return this.#options.url === undefined
      ? undeclaredBodySink(options, body.headers)
      : wholeBodySink(options)
  }

  #optionsFor({ dir, link }: AnnouncedBody): BodySinkOptions {
    const { look, maxBytes } = this.#options
    const { messages } = this.#frames
    return {
      frames: look === undefined ? messages : filteredFrames(messages, look, dir, link),
      place: `${link.place},"dir":"${dir}"`,
      maxBytes,
    }
  }

  readonly #track = (done: Promise<void>): void => {
    this.#decoding.add(done)
    void done.finally(() => this.#decoding.delete(done))
  }
}

function isEventStreamBody(headers: RawHeaders): boolean {
  return findHeader(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}
