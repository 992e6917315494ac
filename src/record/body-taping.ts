import { headerOf, type RawHeaders } from '../transport/http-heads.ts'
import type { Direction } from '../wire/direction.ts'
import { anyBody } from './any-body.ts'
import { canDecode, decodedInto } from './body-decoder.ts'
import { eventStream, noBody, wholeBody, type BodyOptions, type BodyTape } from './http-bodies.ts'
import type { HttpFrames } from './http-frames.ts'
import { lookedFrames } from './looked-frames.ts'
import type { LookedLink, MessageLook } from './message-look.ts'

export interface BodyTapingOptions {
  readonly maxBytes: number
  readonly look?: MessageLook | undefined
  /** Without it nobody said that the bodies are MCP. */
  readonly url?: URL
}

/** One body, as its head announces it. */
export interface AnnouncedBody {
  readonly dir: Direction
  readonly headers: RawHeaders
  readonly link: LookedLink
  /** Told what a legacy server names as the place to post to. */
  readonly onEndpoint: (data: string) => void
}

/** Puts each body on the tape as what its head says that it is. */
export class BodyTaping {
  readonly #frames: HttpFrames
  readonly #options: BodyTapingOptions
  readonly #decoding = new Set<Promise<void>>()

  constructor(frames: HttpFrames, options: BodyTapingOptions) {
    this.#frames = frames
    this.#options = options
  }

  begin(body: AnnouncedBody): BodyTape {
    const encoding = headerOf(body.headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity') return this.#frames.afterwards(this.#decoded(body))
    if (canDecode(encoding))
      return decodedInto(encoding, this.#frames.afterwards(this.#decoded(body)), this.#track)
    if (this.#options.url === undefined) return noBody
    return this.#frames.afterwards(wholeBody(this.#optionsFor(body), `content-encoding ${encoding}`))
  }

  /** The bodies whose last bytes are still being decoded. */
  get decoding(): ReadonlySet<Promise<void>> {
    return this.#decoding
  }

  #decoded(body: AnnouncedBody): BodyTape {
    const options = this.#optionsFor(body)
    if (body.dir === 's2c' && isEventStream(body.headers))
      return eventStream({
        ...options,
        onEvent: (event, details) => this.#frames.eventAtOnce(body.link.place, event, details),
        onEndpoint: body.onEndpoint,
      })
    return this.#options.url === undefined ? anyBody(options, body.headers) : wholeBody(options)
  }

  #optionsFor({ dir, link }: AnnouncedBody): BodyOptions {
    const { look, maxBytes } = this.#options
    const { messages } = this.#frames
    return {
      frames: look === undefined ? messages : lookedFrames(messages, look, dir, link),
      place: `${link.place},"dir":"${dir}"`,
      maxBytes,
    }
  }

  readonly #track = (done: Promise<void>): void => {
    this.#decoding.add(done)
    void done.finally(() => this.#decoding.delete(done))
  }
}

function isEventStream(headers: RawHeaders): boolean {
  return headerOf(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}
