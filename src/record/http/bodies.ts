import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type ZlibOptions,
} from 'node:zlib'
import { systemErrorCode } from '../../errors.ts'
import { findHeader, isEventStream, type RawHeaders } from '../../http/headers.ts'
import { parseJson, isObject } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import { BoundedBytes, SseReader, type SseEvent } from '../../protocol/sse.ts'
import { encodeSse } from '../../tape/codec.ts'
import type { MessageFilter, MessageOrigin } from '../message-filter.ts'
import type { HeldMarks } from '../intercept/link-interceptor.ts'
import type { BodySink, ExchangeFrames } from './exchange-frames.ts'

/** A sink for a body that is not recorded. */
export const ignoredBody: BodySink = { chunk() {}, end() {}, cut() {} }

/** Writes a message with the marks of one that was held. Returns the number of its frame. */
export type WriteHeld = (text: string, marks: HeldMarks) => number | undefined

/** Writes the frame of a message itself, and returns true, if the message is held or was held before. */
export type MessageTaker = (dir: Direction, text: string, write: WriteHeld) => boolean

interface BodyRecorderOptions {
  readonly maxBytes: number
  readonly filter?: MessageFilter | undefined
  /** Set for a bridge, which holds messages that have another form on the side of the client. */
  readonly taker?: MessageTaker | undefined
  /** The MCP server. It is undefined behind a forward proxy, where bodies need not be MCP. */
  readonly url?: URL
}

/** A body, as its head announces it. */
interface AnnouncedBody {
  readonly dir: Direction
  readonly headers: RawHeaders
  readonly origin: MessageOrigin
  /** Called with the endpoint that a server of the HTTP+SSE transport names. */
  readonly onEndpoint: (data: string) => void
}

/** Records bodies according to what their heads announce. */
export class BodyRecorder {
  readonly #frames: ExchangeFrames
  readonly #options: BodyRecorderOptions
  readonly #decoding = new Set<Promise<void>>()

  constructor(frames: ExchangeFrames, options: BodyRecorderOptions) {
    this.#frames = frames
    this.#options = options
  }

  begin(body: AnnouncedBody): BodySink {
    const encoding = contentEncoding(body.headers)
    if (encoding === 'identity') return this.#frames.recorded(this.#sinkFor(body))
    if (Object.hasOwn(DECODERS, encoding))
      return decodeInto(encoding, this.#frames.recorded(this.#sinkFor(body)), this.#track)
    if (this.#options.url === undefined) return ignoredBody
    return this.#frames.recorded(wholeBodySink(this.#sinkOptions(body), `content-encoding ${encoding}`))
  }

  /** The bodies whose last bytes are still being decoded. */
  get decoding(): ReadonlySet<Promise<void>> {
    return this.#decoding
  }

  #sinkFor(body: AnnouncedBody): BodySink {
    const options = this.#sinkOptions(body)
    if (body.dir === 's2c' && isEventStream(body.headers))
      return eventStreamSink({
        ...options,
        onEvent: (event, details) => this.#frames.eventNow(body.origin.place, event, details),
        onEndpoint: body.onEndpoint,
      })
    return this.#options.url === undefined
      ? undeclaredBodySink(options, body.headers)
      : wholeBodySink(options)
  }

  #sinkOptions({ dir, origin }: AnnouncedBody): BodySinkOptions {
    const { filter, taker, maxBytes } = this.#options
    const all = taker === undefined ? this.#frames : takenFrames(this.#frames, taker, dir)
    const frames = filter === undefined ? all : filteredFrames(all, filter, dir, origin)
    return { frames, place: `${origin.place},"dir":"${dir}"`, maxBytes }
  }

  readonly #track = (done: Promise<void>): void => {
    this.#decoding.add(done)
    void done.finally(() => this.#decoding.delete(done))
  }
}

interface BodySinkOptions {
  readonly frames: Pick<ExchangeFrames, 'message' | 'raw' | 'redactedId'>
  /** The envelope between the time and the payload. */
  readonly place: string
  readonly maxBytes: number
}

/** Lets the taker write the messages that are held, or were. */
function takenFrames(frames: ExchangeFrames, taker: MessageTaker, dir: Direction): BodySinkOptions['frames'] {
  return {
    message: (place, body) => {
      const write: WriteHeld = (text, marks) => frames.heldMessage(place, text, marks)
      return (body.isComplete && taker(dir, bodyText(body), write)) || frames.message(place, body)
    },
    raw: (place, body, why, kind) => frames.raw(place, body, why, kind),
    redactedId: (id) => frames.redactedId(id),
  }
}

/** Leaves out the messages that the filter does not keep. They count as written, so that they do not become raw frames. */
function filteredFrames(
  frames: BodySinkOptions['frames'],
  filter: MessageFilter,
  dir: Direction,
  origin: MessageOrigin,
): BodySinkOptions['frames'] {
  return {
    message: (place, body) => {
      const isLeftOut = body.isComplete && !filter.keeps(dir, bodyText(body), origin)
      return isLeftOut || frames.message(place, body)
    },
    raw: (place, body, why, kind) => frames.raw(place, body, why, kind),
    redactedId: (id) => frames.redactedId(id),
  }
}

function bodyText({ parts }: BoundedBytes): string {
  return Buffer.concat(parts).toString()
}

const CUT_OFF = 'cut off'

/** For a body that is one message. With `why` it is known not to be one. */
function wholeBodySink({ frames, place, maxBytes }: BodySinkOptions, why?: string): BodySink {
  const body = new BoundedBytes(maxBytes)
  return endingOnce({
    chunk: (bytes) => body.add(bytes),
    end: () => {
      if (why !== undefined || !frames.message(place, body)) frames.raw(place, body, why)
    },
    cut: () => frames.raw(place, body, CUT_OFF),
  })
}

interface EventStreamSinkOptions extends BodySinkOptions {
  readonly onEvent: (event: string, details: Readonly<Record<string, unknown>>) => void
  readonly onEndpoint: AnnouncedBody['onEndpoint']
}

/** For a stream of server-sent events. An event without a message becomes an event frame. */
function eventStreamSink(options: EventStreamSinkOptions): BodySink {
  const { frames, place, maxBytes, onEvent } = options
  const reader = new SseReader({
    maxBytes,
    onEvent: (event) => writeEvent(options, event),
    onComment: (comment) => onEvent('sse', { comment }),
  })
  return endingOnce({
    chunk: (bytes) => reader.push(bytes),
    end: () => {
      frames.raw(place, reader.end(), 'the stream ended within an event')
      onEvent('end-of-stream', { by: 'server' })
    },
    cut: () => frames.raw(place, reader.end(), CUT_OFF),
  })
}

/** A body that has ended cannot be cut off any more. */
function endingOnce({ chunk, end, cut }: BodySink): BodySink {
  let isOver = false
  const once = (work: () => void) => (): void => {
    if (!isOver) work()
    isOver = true
  }
  return { chunk, end: once(end), cut: once(cut) }
}

function writeEvent({ frames, place, onEvent, onEndpoint }: EventStreamSinkOptions, found: SseEvent): void {
  const { data, ...sse } = found
  const where = `${place}${encodeSse(sse.id === undefined ? sse : { ...sse, id: frames.redactedId(sse.id) })}`
  if (data !== undefined && frames.message(where, data)) return
  const text = data === undefined ? undefined : bodyText(data)
  if (text && (sse.event ?? 'message') === 'message') return frames.raw(where, data!)
  if (sse.event === 'endpoint') onEndpoint(text ?? '')
  onEvent('sse', { sse, data: text })
}

const FORM = 'application/x-www-form-urlencoded'
const TEXT = /^$|^text\/plain$|[/+]json$/
/** A longer body that is not a message is not recorded. */
const MAX_OTHER_BYTES = 64 * 1024
const NOT_JSON_RPC = 'no JSON-RPC message'

/**
 * For a body that need not be MCP, because clients also fetch tokens through a forward proxy. Messages, forms and other JSON
 * are recorded; pages and pictures are not.
 */
function undeclaredBodySink(options: BodySinkOptions, headers: RawHeaders): BodySink {
  const type = (findHeader(headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === FORM) return textBodySink(options, () => true)
  return TEXT.test(type) ? textBodySink(options, (text) => parseJson(text) !== undefined) : ignoredBody
}

function textBodySink(
  { frames, place, maxBytes }: BodySinkOptions,
  isRecorded: (text: string) => boolean,
): BodySink {
  const body = new BoundedBytes(maxBytes)
  const writeOther = (): void => {
    if (body.length > MAX_OTHER_BYTES || !isRecorded(bodyText(body))) return
    frames.raw(place, body, NOT_JSON_RPC, 'authorization')
  }
  return endingOnce({
    chunk: (bytes) => body.add(bytes),
    end: () => {
      if (!isJsonRpcBody(body) || !frames.message(place, body)) writeOther()
    },
    cut: () => {
      if (mentionsJsonRpc(body)) frames.raw(place, body, CUT_OFF)
    },
  })
}

/** A long body is not parsed, because no token is that long. */
function isJsonRpcBody(body: BoundedBytes): boolean {
  if (!mentionsJsonRpc(body)) return false
  if (body.length > MAX_OTHER_BYTES) return true
  const value = parseJson(bodyText(body))
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.every((each) => isObject(each) && each['jsonrpc'] !== undefined)
}

function mentionsJsonRpc({ parts }: BoundedBytes): boolean {
  const ends = parts.length < 3 ? parts : [parts[0]!, parts.at(-2)!, parts.at(-1)!]
  return Buffer.concat(ends).includes('"jsonrpc"')
}

export function contentEncoding(headers: RawHeaders): string {
  return findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
}

export function isDecodable(encoding: string): boolean {
  return encoding === 'identity' || Object.hasOwn(DECODERS, encoding)
}

/** Decodes a whole body. Returns `undefined` if it is damaged. */
export function decodeWhole(
  body: Buffer,
  encoding: string,
  maxBytes: number,
): Buffer | 'too long' | undefined {
  if (encoding === 'identity') return body
  const options = { maxOutputLength: maxBytes }
  try {
    return WHOLE_DECODERS[encoding as keyof typeof DECODERS](body, options)
  } catch (error) {
    return systemErrorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? 'too long' : undefined
  }
}

/**
 * Decodes a compressed body into a sink. `track` gets a promise that resolves when its last byte is decoded. Somebody who decodes
 * the body too passes it on to `decoded`.
 */
export function decodeInto(encoding: string, body: BodySink, track: (done: Promise<void>) => void): BodySink {
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
    decoded: body,
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

// Bytes are decoded as soon as they arrive, and a body that was cut off is decoded as far as possible.
const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}

const DECODERS = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  deflate: (first: Uint8Array) => (hasZlibHeader(first) ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  br: () => createBrotliDecompress(BROTLI),
} satisfies Record<string, (first: Uint8Array) => Decoder>

const WHOLE_DECODERS: Readonly<
  Record<keyof typeof DECODERS, (body: Uint8Array, options: Pick<ZlibOptions, 'maxOutputLength'>) => Buffer>
> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: (body, options) => (hasZlibHeader(body) ? inflateSync : inflateRawSync)(body, options),
  br: brotliDecompressSync,
}

/** Some servers omit the zlib header that `deflate` requires. */
function hasZlibHeader(body: Uint8Array): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8
}
