import { isAscii } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { InjectedHttpResponse } from '../../faults/fault.ts'
import {
  discardBody,
  type HeaderRecord,
  type ServedRequest,
  type ServedResponse,
} from '../../http/server/http-server.ts'
import { findId } from '../../protocol/find-id.ts'
import { decodeUtf8, DEFAULT_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { type Message, PARSE_ERROR } from '../../protocol/message.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import type { MessageParser } from '../player/message-parser.ts'
import type { ReplyChannel, ReplySource } from '../player/reply-channel.ts'
import { httpStatusOf, type RecordedHead, type RecordedHeads } from './recorded-http.ts'

/** A message that a client posted. */
export interface PostedMessage {
  readonly req: ServedRequest
  readonly res: ServedResponse
  readonly text: string
  readonly message: Message
}

type PostReader = Pick<PostedMessage, 'req' | 'res'> & { readonly parser: MessageParser }
type OnPosted = (posted: PostedMessage) => void

/** Parses the body of a POST as a JSON-RPC message and rejects anything else. */
export function readPostedMessage(reader: PostReader, onPosted: OnPosted): void {
  const { req, res } = reader
  if (!isJson(req.headers['content-type'])) {
    discardBody(req)
    return sendHttpError(res, NOT_JSON_TYPE)
  }
  if ('body' in req) parseBody(req.body, reader, onPosted)
  else collectBody(req, reader, onPosted)
}

function collectBody(req: IncomingMessage, reader: PostReader, onPosted: OnPosted): void {
  const { res } = reader
  const chunks: Buffer[] = []
  let length = 0
  req.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= DEFAULT_MAX_LINE_BYTES) chunks.push(chunk)
    else if (!res.headersSent) sendHttpError(res, TOO_LARGE)
  })
  req.on('end', () => {
    if (!res.headersSent) parseBody(Buffer.concat(chunks), reader, onPosted)
  })
  req.on('error', () => {}) // a client that leaves in the middle of its request needs no response
}

function parseBody(body: Buffer, { req, res, parser }: PostReader, onPosted: OnPosted): void {
  const text = isAscii(body) ? body.toString('latin1') : decodeUtf8(body)
  const message = text === undefined ? undefined : parser.parse(text)
  if (text === undefined || message === undefined) return sendHttpError(res, NOT_JSON)
  onPosted({ req, res, text, message })
}

function isJson(type: HeaderRecord[string]): boolean {
  if (type === 'application/json') return true
  return typeof type === 'string' && type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

const NOT_JSON = { status: 400, code: PARSE_ERROR, message: 'Parse error: Invalid JSON' }
const NOT_JSON_TYPE = {
  status: 415,
  code: -32000,
  message: 'Unsupported Media Type: Content-Type must be application/json',
}
const TOO_LARGE = {
  status: 413,
  code: -32000,
  message: 'Payload Too Large',
  headers: { Connection: 'close' },
}

/** A header that is sent twice means the same as one with a list. */
function joinedHeaders(headers: InjectedHttpResponse['headers']): Readonly<Record<string, string>> {
  const entries = Object.entries(headers)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]),
  )
}

/** The id of a posted request as the bytes that the client sent; `null` if the message is not a request. */
export function postedId({ text, message }: PostedMessage): string {
  const range = message.kind === 'request' ? findId(text) : undefined
  return range === undefined ? 'null' : text.slice(range.start, range.end)
}

export interface AcceptedTypes {
  readonly json: boolean
  readonly stream: boolean
}

/** The media types that a client accepts. A client without an `Accept` header accepts everything. */
export function acceptedTypes({ headers }: ServedRequest): AcceptedTypes {
  const { accept = '*/*' } = headers
  const isAny = accept.includes('*/*')
  return {
    json: isAny || accept.includes('application/json'),
    stream: isAny || accept.includes('text/event-stream'),
  }
}

/** The response to a request that does not reach the player. The texts are those of the SDKs' servers. */
export interface HttpErrorResponse {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `id` is the id of the request as JSON, if it is known. */
export function sendHttpError(res: ServedResponse, response: HttpErrorResponse, id = 'null'): void {
  const { status, code, message, data, headers } = response
  const error = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
  const body = `{"jsonrpc":"2.0","id":${id},"error":${error}}`
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  res.end(body)
}

export function methodNotAllowed(allow: string): HttpErrorResponse {
  return { status: 405, code: -32000, message: 'Method not allowed.', headers: { Allow: allow } }
}

/** The stream that carries a response if anything else is sent with it. */
export interface ReplyStream {
  readonly send: (text: string) => void
  readonly end: () => void
  /** Ends the stream so that the client comes back for the rest. Missing if the client cannot resume it. */
  readonly breakOff?: () => void
}

/** What all exchanges with one client share. */
export interface ExchangeContext {
  readonly heads: RecordedHeads
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>
  readonly openStream: (res: ServedResponse) => ReplyStream
  /** Takes messages that come when the exchange is over. */
  readonly onLate: (text: string) => void
}

interface PostExchangeOptions {
  readonly res: ServedResponse
  readonly context: ExchangeContext
  readonly revision: Revision
  readonly scope: string
  readonly accepts: AcceptedTypes
}

/** Answers one POST that contains a request, as JSON or as a stream: a stream if the tape has one or if more is to be sent. */
export class PostExchange implements ReplyChannel {
  readonly scope: string
  readonly #options: PostExchangeOptions
  #stream: ReplyStream | undefined
  #isOver = false

  constructor(options: PostExchangeOptions) {
    this.#options = options
    this.scope = options.scope
  }

  /** True if nothing more will be sent. */
  get isOver(): boolean {
    return this.#isOver
  }

  readonly send = (text: string): void => {
    const { accepts, context } = this.#options
    if (this.#isOver || this.#isAbandoned || !accepts.stream) return context.onLate(text)
    this.#openStream().send(text)
  }

  readonly reply = (text: string | undefined, source?: ReplySource): void => {
    if (text === undefined || this.#isOver || this.#isAbandoned) return
    const { context } = this.#options
    const head = source !== undefined && 'message' in source ? context.heads.of(source) : undefined
    if (this.#isJsonReply(head)) this.#replyAsJson(text, source)
    else this.#replyByStream(text, head)
    this.end()
  }

  readonly breakOff = (response?: InjectedHttpResponse): void => {
    if (this.#isOver) return
    this.#isOver = true
    const { res, context } = this.#options
    if (response === undefined || this.#stream !== undefined) res.destroy()
    else
      res
        .writeHead(response.status, { ...context.headers, ...joinedHeaders(response.headers) })
        .end(response.body)
  }

  /**
   * Ends the exchange of a cancelled request. An open stream stays open, because clients resume a stream that ends without a
   * response.
   */
  cancel(): void {
    if (this.#isOver || this.#stream !== undefined) return
    this.#isOver = true
    const { res, context } = this.#options
    res.writeHead(202, context.headers).end()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { res } = this.#options
    if (this.#stream !== undefined) this.#stream.end()
    else if (!res.writableEnded) res.destroy()
  }

  /** True if the client left before the response began. A stream that has begun can be resumed. */
  get #isAbandoned(): boolean {
    return this.#stream === undefined && this.#options.res.destroyed
  }

  #openStream(): ReplyStream {
    const { res, context } = this.#options
    return (this.#stream ??= context.openStream(res))
  }

  #isJsonReply(head: RecordedHead | undefined): boolean {
    const { accepts } = this.#options
    if (this.#stream !== undefined) return false
    if (!accepts.stream || !accepts.json) return accepts.json
    return head?.isStream !== true
  }

  #replyByStream(text: string, head: RecordedHead | undefined): void {
    const stream = this.#openStream()
    // The recorded client came back for this response, so the live one has to as well.
    if (head?.isResumed === true) stream.breakOff?.()
    stream.send(text)
  }

  #replyAsJson(text: string, source: ReplySource | undefined): void {
    const { res, context, revision } = this.#options
    res.writeHead(httpStatusOf(source, revision, context.heads), {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...context.headers,
    })
    // As a string the body leaves in one write with the head; a buffer would need a second write, which is much slower.
    res.end(text)
  }
}
