import type { ServedResponse } from '../../transport/http1/exchange.ts'
import type { Era } from '../../wire/era.ts'
import type { HttpAnswer } from '../faults/fault.ts'
import type { Outlet } from '../outlet.ts'
import type { Source } from '../reply.ts'
import { answerStatus } from './answer-status.ts'
import type { RecordedHead, RecordedHeads } from './recorded-heads.ts'

/** The stream that an answer comes by when it is more than an answer. */
export interface AnswerStream {
  readonly send: (text: string) => void
  readonly end: () => void
  /** Lets the client wait and come back for the rest, where it can. */
  readonly breakOff?: () => void
}

/** What all exchanges with one client share. */
export interface ExchangeSite {
  readonly era: Era
  readonly heads: RecordedHeads
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly openStream: (res: ServedResponse) => AnswerStream
  /** Takes what comes after the answer, when the stream is over. */
  readonly onLate: (text: string) => void
}

export interface PostExchangeOptions {
  readonly res: ServedResponse
  readonly site: ExchangeSite
  readonly scope: string
  readonly accepts: Accepts
}

export interface Accepts {
  readonly json: boolean
  readonly stream: boolean
}

/** One POST with a request in it. It is answered with a stream if the tape says so or if anything comes before the answer. */
export class PostExchange implements Outlet {
  readonly scope: string
  readonly #options: PostExchangeOptions
  #stream: AnswerStream | undefined
  #isOver = false

  constructor(options: PostExchangeOptions) {
    this.#options = options
    this.scope = options.scope
  }

  /** Whether nothing more will come. */
  get isOver(): boolean {
    return this.#isOver
  }

  readonly send = (text: string): void => {
    if (this.#isOver || this.#isGone || !this.#options.accepts.stream) return this.#options.site.onLate(text)
    this.#streaming().send(text)
  }

  readonly reply = (text: string | undefined, source?: Source): void => {
    if (text === undefined || this.#isOver || this.#isGone) return
    const head = source !== undefined && 'message' in source ? this.#options.site.heads.of(source) : undefined
    if (this.#isPlain(head)) this.#answerPlainly(text, source)
    else this.#answerByStream(text, head)
    this.end()
  }

  readonly breakOff = (answer?: HttpAnswer): void => {
    if (this.#isOver) return
    this.#isOver = true
    const { res, site } = this.#options
    if (answer === undefined || this.#stream !== undefined) res.destroy()
    else res.writeHead(answer.status, { ...site.headers, ...answer.headers }).end(answer.body)
  }

  /** The client wants no answer. A stream that it reads stays, because one that ends without an answer is asked for again. */
  cancel(): void {
    if (this.#isOver || this.#stream !== undefined) return
    this.#isOver = true
    const { res, site } = this.#options
    res.writeHead(202, site.headers).end()
  }

  /** Nothing more will come. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { res } = this.#options
    if (this.#stream !== undefined) this.#stream.end()
    else if (!res.writableEnded) res.destroy()
  }

  /** Whether the client left before it was answered: a stream that has begun it may go on with. */
  get #isGone(): boolean {
    return this.#stream === undefined && this.#options.res.destroyed
  }

  #streaming(): AnswerStream {
    const { res, site } = this.#options
    return (this.#stream ??= site.openStream(res))
  }

  #isPlain(head: RecordedHead | undefined): boolean {
    const { accepts } = this.#options
    if (this.#stream !== undefined) return false
    if (!accepts.stream || !accepts.json) return accepts.json
    return head?.isStream !== true
  }

  // The recorded server let the client come back for this answer.
  #answerByStream(text: string, head: RecordedHead | undefined): void {
    const stream = this.#streaming()
    if (head?.isResumed === true) stream.breakOff?.()
    stream.send(text)
  }

  #answerPlainly(text: string, source: Source | undefined): void {
    const { res, site } = this.#options
    res.writeHead(answerStatus(source, site.era, site.heads), {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...site.headers,
    })
    res.end(text) // a text leaves in one piece with the head; bytes would be a second piece, which costs more than all of this
  }
}
