import type { ServedResponse } from '../../http/server/served-exchange.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import type { InjectedHttpResponse } from '../../faults/fault.ts'
import type { ReplyChannel, ReplySource } from '../player/reply-channel.ts'
import { httpStatusOf, type RecordedHead, type RecordedHeads } from './recorded-http.ts'

/** The stream that an answer comes by when it is more than an answer. */
export interface ReplyStream {
  readonly send: (text: string) => void
  readonly end: () => void
  /** Lets the client wait and come back for the rest, where it can. */
  readonly breakOff?: () => void
}

/** What all exchanges with one client share. */
export interface ExchangeContext {
  readonly heads: RecordedHeads
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly openStream: (res: ServedResponse) => ReplyStream
  /** Takes what comes after the answer, when the stream is over. */
  readonly onLate: (text: string) => void
}

interface PostExchangeOptions {
  readonly res: ServedResponse
  readonly site: ExchangeContext
  readonly revision: Revision
  readonly scope: string
  readonly accepts: AcceptedTypes
}

export interface AcceptedTypes {
  readonly json: boolean
  readonly stream: boolean
}

/** One POST with a request in it. It is answered with a stream if the tape says so or if anything comes before the answer. */
export class PostExchange implements ReplyChannel {
  readonly scope: string
  readonly #options: PostExchangeOptions
  #stream: ReplyStream | undefined
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
    this.#openStream().send(text)
  }

  readonly reply = (text: string | undefined, source?: ReplySource): void => {
    if (text === undefined || this.#isOver || this.#isGone) return
    const head = source !== undefined && 'message' in source ? this.#options.site.heads.of(source) : undefined
    if (this.#isJsonReply(head)) this.#replyAsJson(text, source)
    else this.#replyByStream(text, head)
    this.end()
  }

  readonly breakOff = (answer?: InjectedHttpResponse): void => {
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

  #openStream(): ReplyStream {
    const { res, site } = this.#options
    return (this.#stream ??= site.openStream(res))
  }

  #isJsonReply(head: RecordedHead | undefined): boolean {
    const { accepts } = this.#options
    if (this.#stream !== undefined) return false
    if (!accepts.stream || !accepts.json) return accepts.json
    return head?.isStream !== true
  }

  // The recorded server let the client come back for this answer.
  #replyByStream(text: string, head: RecordedHead | undefined): void {
    const stream = this.#openStream()
    if (head?.isResumed === true) stream.breakOff?.()
    stream.send(text)
  }

  #replyAsJson(text: string, source: ReplySource | undefined): void {
    const { res, site, revision } = this.#options
    res.writeHead(httpStatusOf(source, revision, site.heads), {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...site.headers,
    })
    res.end(text) // a text leaves in one piece with the head; bytes would be a second piece, which costs more than all of this
  }
}
