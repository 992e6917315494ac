import type { RawHeaders } from '../../http/headers.ts'
import type { RequestLine } from '../../http/proxy/proxied-exchange.ts'
import { monotonicNow } from '../../link/process/monotonic-clock.ts'
import type { Direction } from '../../protocol/message.ts'
import { encodeEventMembers, redactHeaderList } from '../frame-payloads.ts'
import type { BodySink } from './bodies.ts'
import { BodyFrameWriter } from './body-frames.ts'
import type { TapeLog } from '../tape-log.ts'
import type { HttpFrame } from '../../tape/frame.ts'

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

/**
 * Work for the tape that waits until the bytes of this round of the event loop are on their way: the link comes first. It is
 * done in the order in which it was asked for, with the time at which it was asked for, and one write to the disk.
 */
class DeferredWrites {
  readonly #log: TapeLog
  #queue: { readonly when: number; readonly work: () => void }[] = []
  #time = 0

  constructor(log: TapeLog) {
    this.#log = log
  }

  /** When the work that is being done was asked for, by the clock of the tape that is open now: a limit may have begun another. */
  get time(): number {
    return this.#log.timeOf(this.#time)
  }

  defer(work: () => void): void {
    if (this.#queue.push({ when: monotonicNow(), work }) === 1) setImmediate(() => this.flush())
  }

  flush(): void {
    const queue = this.#queue
    this.#queue = []
    for (const { when, work } of queue) {
      this.#time = when
      this.#log.guard(work)
    }
    this.#log.flush()
  }
}
