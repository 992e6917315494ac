import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
} from 'node:zlib'
import { findHeader, isEventStream, type RawHeaders } from '../../http/headers.ts'
import type { Direction } from '../../protocol/message.ts'
import {
  undeclaredBodySink,
  eventStreamSink,
  ignoredBody,
  wholeBodySink,
  type BodySinkOptions,
  type BodySink,
} from './bodies.ts'
import type { ExchangeFrames } from './exchange-frames.ts'
import type { MessageOrigin, MessageFilter } from '../message-filter.ts'

interface BodyRecorderOptions {
  readonly maxBytes: number
  readonly look?: MessageFilter | undefined
  /** Without it nobody said that the bodies are MCP. */
  readonly url?: URL
}

/** One body, as its head announces it. */
interface AnnouncedBody {
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
    if (body.dir === 's2c' && isEventStream(body.headers))
      return eventStreamSink({
        ...options,
        onEvent: (event, details) => this.#frames.eventNow(body.link.place, event, details),
        onEndpoint: body.onEndpoint,
      })
    return this.#options.url === undefined
      ? undeclaredBodySink(options, body.headers)
      : wholeBodySink(options)
  }

  #optionsFor({ dir, link }: AnnouncedBody): BodySinkOptions {
    const { look, maxBytes } = this.#options
    return {
      frames: look === undefined ? this.#frames : filteredFrames(this.#frames, look, dir, link),
      place: `${link.place},"dir":"${dir}"`,
      maxBytes,
    }
  }

  readonly #track = (done: Promise<void>): void => {
    this.#decoding.add(done)
    void done.finally(() => this.#decoding.delete(done))
  }
}

/** Frames of one body that are looked at first. What is left out counts as written: it is no raw line. */
function filteredFrames(
  frames: BodySinkOptions['frames'],
  look: MessageFilter,
  dir: Direction,
  link: MessageOrigin,
): BodySinkOptions['frames'] {
  return {
    message: (place, body) => {
      const isLeftOut = body.isComplete && !look.keeps(dir, Buffer.concat(body.parts).toString(), link)
      return isLeftOut || frames.message(place, body)
    },
    raw: (place, body, why, kind) => frames.raw(place, body, why, kind),
    redactedId: (id) => frames.redactedId(id),
  }
}

/** Whether a compressed body can be put on the tape as what it says. */
function canDecode(encoding: string): boolean {
  return Object.hasOwn(DECODERS, encoding)
}

/** Hands the decoded bytes on; `track` gets a promise for each body that is still being decoded when its last byte has come. */
function decodeInto(encoding: string, body: BodySink, track: (done: Promise<void>) => void): BodySink {
  let decoder: Decoder | undefined
  let finish = body.end
  const open = (first: Uint8Array): Decoder => {
    const made = DECODERS[encoding as keyof typeof DECODERS](first)
    made.on('data', body.chunk)
    track(new Promise((done) => made.on('close', done)))
    made.on('end', () => finish())
    made.on('error', body.cut)
    return made
  }
  return {
    chunk: (bytes) => void (decoder ??= open(bytes)).write(bytes),
    end: () => (decoder === undefined ? body.end() : void decoder.end()),
    cut: () => {
      finish = body.cut
      if (decoder === undefined) body.cut()
      else decoder.end()
    },
  }
}

type Decoder = BrotliDecompress | Gunzip | Inflate

// What has come is decoded at once, and a body that was cut off as far as it goes.
const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}

const DECODERS = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  // Some servers send it without the header that the name calls for.
  deflate: (first: Uint8Array) =>
    ((first[0] ?? 0) & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB),
  br: () => createBrotliDecompress(BROTLI),
} satisfies Record<string, (first: Uint8Array) => Decoder>
