import type { RawHeaders } from '../../http/headers.ts'
import type { RequestLine } from '../../http/proxy/proxied-exchange.ts'
import { monotonicNow } from '../../link/process/monotonic-clock.ts'
import type { Direction } from '../../protocol/message.ts'
import type { BoundedBytes } from '../../protocol/sse.ts'
import type { HttpFrame } from '../../tape/frame.ts'
import { encodeEventMembers, redactHeaderList, bodyBytes, framePlace, FrameWriter } from '../frame-writer.ts'
import type { TapeLog } from '../tape-log.ts'

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
}

/**
 * Writes the frames of HTTP exchanges. The link comes first, so frames wait until the current round of the event loop is
 * over. They are written in order, each with the time at which it was requested, and with one write to the disk.
 */
export class ExchangeFrames {
  readonly #log: TapeLog
  readonly #frames: FrameWriter
  #queue: { readonly requestedAt: number; readonly work: () => void }[] = []
  #requestedAt = 0

  constructor(log: TapeLog, options: ExchangeFramesOptions) {
    this.#log = log
    this.#frames = new FrameWriter(log, { unit: 'body', ...options })
  }

  requestHead(place: string, { method, path, headers }: RequestLine): void {
    const { redactor } = this.#log
    this.#head(place, 'c2s', () => ({
      method,
      path: redactor?.url(path) ?? path,
      headers: redactHeaderList(headers, redactor),
    }))
  }

  responseHead(place: string, status: number, headers: RawHeaders): void {
    const { redactor } = this.#log
    this.#head(place, 's2c', () => ({ status, headers: redactHeaderList(headers, redactor) }))
  }

  event(place: string, event: string, details: FrameDetails): void {
    this.#defer(() => this.eventNow(place, event, details))
  }

  /** Makes the chunks of a body wait for the end of the round. The sink then writes with the methods below. */
  deferred({ chunk, end, cut }: BodySink): BodySink {
    return {
      chunk: (bytes) => this.#defer(() => chunk(bytes)),
      end: () => this.#defer(end),
      cut: () => this.#defer(cut),
    }
  }

  /** Writes an event that was found in a body. */
  eventNow(place: string, event: string, details: FrameDetails): void {
    this.#write(`${place}${encodeEventMembers(event, details, this.#log.redactor)}`)
  }

  /** Writes a message frame. Returns false, and writes nothing, if the body is not a JSON object or array. */
  message(place: string, body: BoundedBytes): boolean {
    if (place.length > MAX_PLACE_LENGTH) return false
    const isWritten = this.#frames.message(this.#time, framePlace(place), bodyBytes(body))
    if (isWritten) this.#log.countMessages(1)
    return isWritten
  }

  /** Writes a body that is not a message. The field names of a body for an authorization server show which values are secret. */
  raw(place: string, body: BoundedBytes, why?: string, kind: 'any' | 'authorization' = 'any'): void {
    const { redactor } = this.#log
    const redactText = kind === 'any' || !redactor ? undefined : (text: string) => redactor.form(text)
    if (this.#frames.raw(this.#time, framePlace(place), bodyBytes(body), { why, redactText }))
      this.#log.countMessages(1)
  }

  /** Redacts the id of an event, which is part of the envelope of a message. */
  redactedId(id: string): string {
    return this.#log.redactor?.text(id) ?? id
  }

  /** Writes now what would wait for the end of this round. */
  settle(): void {
    const queue = this.#queue
    this.#queue = []
    for (const { requestedAt, work } of queue) {
      this.#requestedAt = requestedAt
      this.#log.guard(work)
    }
    this.#log.flush()
  }

  /** Uses the clock of the tape that is open now, because a limit may have started another one. */
  get #time(): number {
    return this.#log.timeOf(this.#requestedAt)
  }

  #defer(work: () => void): void {
    if (this.#queue.push({ requestedAt: monotonicNow(), work }) === 1) setImmediate(() => this.settle())
  }

  #head(place: string, dir: Direction, head: () => HttpFrame['http']): void {
    this.#defer(() => this.#write(`${place},"dir":"${dir}","http":${JSON.stringify(head())}`))
  }

  #write(rest: string): void {
    this.#log.bufferFrame(this.#time, rest)
  }
}

const MAX_PLACE_LENGTH = 64 * 1024
