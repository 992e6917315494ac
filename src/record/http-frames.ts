import type { HttpFrame } from '../tape/frame.ts'
import type { RawHeaders } from '../transport/http-heads.ts'
import type { RequestLine } from '../transport/http-passage.ts'
import type { Direction } from '../wire/direction.ts'
import { AfterRound } from './after-round.ts'
import { eventMembers } from './event-members.ts'
import type { BodyTape } from './http-bodies.ts'
import { MessageFrames } from './message-frames.ts'
import { redactedHeaders } from './redacted-head.ts'
import type { TapeLog } from './tape-log.ts'

type Details = Readonly<Record<string, unknown>>

/** The frames of HTTP exchanges. They are written when the round of the event loop is over, each with the time at which it was asked for. */
export class HttpFrames {
  /** Writes bodies, at once: it is for bodies that come `afterwards`. */
  readonly messages: MessageFrames
  readonly #log: TapeLog
  readonly #later: AfterRound

  constructor(log: TapeLog, cutBytes: number | undefined) {
    this.#log = log
    this.#later = new AfterRound(log)
    this.messages = new MessageFrames(log, () => this.#later.time, cutBytes)
  }

  requestHead(place: string, { method, path, headers }: RequestLine): void {
    const { redactor } = this.#log
    this.#head(place, 'c2s', () => ({
      method,
      path: redactor?.url(path) ?? path,
      headers: redactedHeaders(headers, redactor),
    }))
  }

  answerHead(place: string, status: number, headers: RawHeaders): void {
    const { redactor } = this.#log
    this.#head(place, 's2c', () => ({ status, headers: redactedHeaders(headers, redactor) }))
  }

  event(place: string, event: string, details: Details): void {
    this.#later.add(() => this.eventAtOnce(place, event, details))
  }

  /** An event that is found in a body, which has waited already. */
  eventAtOnce(place: string, event: string, details: Details): void {
    this.#put(`${place}${eventMembers(event, details, this.#log.redactor)}`)
  }

  /** A body whose bytes wait for the end of the round. */
  afterwards({ chunk, end, cut }: BodyTape): BodyTape {
    return {
      chunk: (bytes) => this.#later.add(() => chunk(bytes)),
      end: () => this.#later.add(end),
      cut: () => this.#later.add(cut),
    }
  }

  /** Puts on the tape now what would wait for the end of this round. */
  settle(): void {
    this.#later.run()
  }

  #head(place: string, dir: Direction, head: () => HttpFrame['http']): void {
    this.#later.add(() => this.#put(`${place},"dir":"${dir}","http":${JSON.stringify(head())}`))
  }

  #put(rest: string): void {
    this.#log.gather(this.#later.time, rest)
  }
}
