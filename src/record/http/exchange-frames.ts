import type { RawHeaders } from '../../http/headers.ts'
import type { RequestLine } from '../../http/proxy/proxied-exchange.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { lineBytes } from '../../protocol/lines.ts'
import type { Direction } from '../../protocol/message.ts'
import type { BoundedBytes } from '../../protocol/sse.ts'
import { encodeInterception } from '../../tape/codec.ts'
import type { HttpFrame, LinkSide } from '../../tape/frame.ts'
import type { HeldMarks } from '../intercept/link-interceptor.ts'
import {
  encodeEventOn,
  redactHeaderList,
  bodyBytes,
  type FramePlace,
  framePlace,
  FrameWriter,
  writeHeldMessage,
} from '../frame-writer.ts'
import { SLOW_BYTES, type TapeLog } from '../tape-log.ts'

type FrameDetails = Readonly<Record<string, unknown>>

interface ExchangeFramesOptions {
  /** The longest message that is recorded. */
  readonly maxBytes: number
  /** Only this much is recorded of a longer message. */
  readonly cutBytes?: number | undefined
}

/** Takes the body of a request or response, and records it. */
export interface BodySink {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
  /** The body broke off. */
  readonly cut: () => void
  /** Takes the decoded body, if this one is compressed. */
  readonly decoded?: BodySink
}

/**
 * Writes the frames of HTTP exchanges. A message is written before its last bytes are forwarded, together with the frames
 * before it and with one call. Heads and events alone are written when the current round of the event loop is over.
 */
export class ExchangeFrames {
  readonly #log: TapeLog
  readonly #frames: FrameWriter
  readonly #cutBytes: number
  readonly #requestHeads = new LastHead()
  readonly #responseHeads = new LastHead()
  #lastPlace: FramePlace | undefined
  /** Whether a body has written a frame that is not flushed yet. */
  #isFlushDue = false
  #isWriteScheduled = false

  constructor(log: TapeLog, options: ExchangeFramesOptions) {
    this.#log = log
    this.#cutBytes = options.cutBytes ?? Infinity
    this.#frames = new FrameWriter(log, { unit: 'body', ...options })
  }

  requestHead(place: string, { method, path, headers }: RequestLine): void {
    const { redactor } = this.#log
    this.#head(place, 'c2s', () =>
      this.#requestHeads.encode(`${method} ${path}`, headers, redactor, () => ({
        method,
        path: redactor?.url(path) ?? path,
        headers: redactHeaderList(headers, redactor),
      })),
    )
  }

  /** Writes the head of a response. With a side, only that side has seen it. */
  responseHead(place: string, status: number, headers: RawHeaders, side?: LinkSide): void {
    const { redactor } = this.#log
    const encode = (): string =>
      this.#responseHeads.encode(String(status), headers, redactor, () => ({
        status,
        headers: redactHeaderList(headers, redactor),
      }))
    this.#head(place, 's2c', encode, side)
  }

  /** Writes a message that was held. Returns the number of its frame. */
  heldMessage(place: string, text: string, marks: HeldMarks): number | undefined {
    this.settle()
    return writeHeldMessage(this.#log, place, text, marks)
  }

  event(place: string, event: string, details: FrameDetails): void {
    this.#log.guard(() => this.eventNow(place, event, details))
    this.#writeLater()
  }

  /** Makes a sink write to the tape whatever it finds, before it returns. */
  recorded({ chunk, end, cut }: BodySink): BodySink {
    const record = (work: () => void, isEnd: boolean): void => {
      this.#log.guard(work)
      if (!isEnd && !this.#isFlushDue) return
      this.#isFlushDue = false
      this.#log.flush()
    }
    return {
      chunk: (bytes) => record(() => chunk(bytes), false),
      end: () => record(end, true),
      cut: () => record(cut, true),
    }
  }

  /** Writes an event that was found in a body. */
  eventNow(place: string, event: string, details: FrameDetails): void {
    this.#isFlushDue = true
    this.#log.bufferFrame(this.#log.now(), `${place}${encodeEventOn(this.#log, event, details)}`)
  }

  /** Writes a message frame. Returns false, and writes nothing, if the body is not a JSON object or array. */
  message(place: string, body: BoundedBytes): boolean {
    if (place.length > MAX_PLACE_LENGTH) return false
    const time = this.#log.now()
    const bytes = bodyBytes(body)
    const mayContainSecrets = this.#log.redactor?.mayContainSecrets(lineBytes(bytes)) === true
    const write = (): boolean => {
      const isWritten = this.#frames.message(time, this.#placeOf(place), bytes, mayContainSecrets)
      if (isWritten) this.#log.countMessages(1)
      return isWritten
    }
    this.#isFlushDue = true
    const isSlow = body.length > SLOW_BYTES && (mayContainSecrets || body.length > this.#cutBytes)
    if (!isSlow && !this.#log.isPostponing) return write()
    if (bytes.isOverlong || !this.#frames.isMessage(bytes)) return false
    this.#log.postpone(write)
    return true
  }

  /** Writes a body that is not a message. The field names of a body for an authorization server show which values are secret. */
  raw(place: string, body: BoundedBytes, why?: string, kind: 'any' | 'authorization' = 'any'): void {
    const { redactor } = this.#log
    const redactText = kind === 'any' || !redactor ? undefined : (text: string) => redactor.form(text)
    const time = this.#log.now()
    const write = (): void => {
      if (this.#frames.raw(time, framePlace(place), bodyBytes(body), { why, redactText }))
        this.#log.countMessages(1)
    }
    this.#isFlushDue = true
    if (this.#log.isPostponing || body.length > SLOW_BYTES) this.#log.postpone(write)
    else write()
  }

  /** The events of a stream have the same place. */
  #placeOf(place: string): FramePlace {
    if (this.#lastPlace?.text !== place) this.#lastPlace = framePlace(place)
    return this.#lastPlace
  }

  /** Redacts the id of an event, which is part of the envelope of a message. */
  redactedId(id: string): string {
    return this.#log.redactor?.text(id) ?? id
  }

  /** Writes now what would wait for the end of this round. */
  settle(): void {
    this.#isWriteScheduled = false
    this.#log.writePostponed()
    this.#log.flush()
  }

  #writeLater(): void {
    if (this.#isWriteScheduled) return
    this.#isWriteScheduled = true
    setImmediate(() => this.settle())
  }

  #head(place: string, dir: Direction, encode: () => string, side?: LinkSide): void {
    const marks = side === undefined ? '' : encodeInterception({ side })
    this.#log.guard(() =>
      this.#log.bufferFrame(this.#log.now(), `${place},"dir":"${dir}"${marks},"http":${encode()}`),
    )
    this.#writeLater()
  }
}

const MAX_PLACE_LENGTH = 64 * 1024

/**
 * Keeps the last head that was encoded. Clients and servers send the same head many times a second, and the readers of heads
 * then return the same list of headers. Redaction finds the same secrets in it until a further one is learned.
 */
class LastHead {
  #start: string | undefined
  #headers: RawHeaders | undefined
  #knownCount: number | undefined
  #text = ''

  /** `start` is everything of the head that is not in its headers. */
  encode(
    start: string,
    headers: RawHeaders,
    redactor: Redactor | undefined,
    head: () => HttpFrame['http'],
  ): string {
    if (headers === this.#headers && start === this.#start && redactor?.knownCount === this.#knownCount)
      return this.#text
    this.#text = JSON.stringify(head())
    this.#start = start
    this.#headers = headers
    this.#knownCount = redactor?.knownCount
    return this.#text
  }
}
