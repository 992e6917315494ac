import type { HttpFrame } from '../../tape/frame.ts'
import type { RawHeaders } from '../../http/headers.ts'
import type { RequestLine } from '../../http/proxy/proxied-exchange.ts'
import type { Direction } from '../../wire/direction.ts'
import { DeferredWrites } from '../after-round.ts'
import { encodeEventMembers } from '../frame-payloads.ts'
import type { BodySink } from './bodies.ts'
import { BodyFrameWriter } from './body-frames.ts'
import { redactHeaderList } from '../redacted-head.ts'
import type { TapeLog } from '../tape-log.ts'

type FrameDetails = Readonly<Record<string, unknown>>

/** The frames of HTTP exchanges. They are written when the round of the event loop is over, each with the time at which it was asked for. */
export class ExchangeFrames {
  /** Writes bodies, at once: it is for bodies that come `afterwards`. */
  readonly messages: BodyFrameWriter
  readonly #log: TapeLog
  readonly #deferredWrites: DeferredWrites

  constructor(log: TapeLog, cutBytes: number | undefined) {
    this.#log = log
    this.#deferredWrites = new DeferredWrites(log)
    this.messages = new BodyFrameWriter(log, () => this.#deferredWrites.time, cutBytes)
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
    this.#deferredWrites.defer(() => this.eventAtOnce(place, event, details))
  }

  /** An event that is found in a body, which has waited already. */
  eventAtOnce(place: string, event: string, details: FrameDetails): void {
    this.#write(`${place}${encodeEventMembers(event, details, this.#log.redactor)}`)
  }

  /** A body whose bytes wait for the end of the round. */
  deferred({ chunk, end, cut }: BodySink): BodySink {
    return {
      chunk: (bytes) => this.#deferredWrites.defer(() => chunk(bytes)),
      end: () => this.#deferredWrites.defer(end),
      cut: () => this.#deferredWrites.defer(cut),
    }
  }

  /** Puts on the tape now what would wait for the end of this round. */
  settle(): void {
    this.#deferredWrites.flush()
  }

  #head(place: string, dir: Direction, head: () => HttpFrame['http']): void {
    this.#deferredWrites.defer(() => this.#write(`${place},"dir":"${dir}","http":${JSON.stringify(head())}`))
  }

  #write(rest: string): void {
    this.#log.bufferFrame(this.#deferredWrites.time, rest)
  }
}
