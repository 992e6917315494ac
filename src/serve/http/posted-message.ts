import { isAscii } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import {
  discardBody,
  type HeaderRecord,
  type ServedRequest,
  type ServedResponse,
} from '../../http/server/served-exchange.ts'
import { decodeUtf8, DEFAULT_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { findId } from '../../protocol/id.ts'
import type { Message } from '../../protocol/message.ts'
import type { AcceptedTypes } from './post-exchange.ts'
import type { MessageParser } from '../player/message-parser.ts'

/** A message that a client posted, and the way to answer it. */
export interface PostedMessage {
  readonly req: ServedRequest
  readonly res: ServedResponse
  readonly text: string
  readonly message: Message
}

type PostReading = Pick<PostedMessage, 'req' | 'res'> & { readonly heard: MessageParser }
type OnPosted = (posted: PostedMessage) => void

/** Reads the message of a POST; what is none is refused here. */
export function readPostedMessage(reading: PostReading, take: OnPosted): void {
  const { req, res } = reading
  if (!isJson(req.headers['content-type'])) {
    discardBody(req)
    return sendHttpError(res, NOT_JSON_TYPE)
  }
  if ('body' in req) readBody(req.body, reading, take)
  else collect(req, reading, take)
}

function collect(req: IncomingMessage, reading: PostReading, take: OnPosted): void {
  const { res } = reading
  const chunks: Buffer[] = []
  let length = 0
  req.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= DEFAULT_MAX_LINE_BYTES) chunks.push(chunk)
    else if (!res.headersSent) sendHttpError(res, TOO_LONG)
  })
  req.on('end', () => {
    if (!res.headersSent) readBody(Buffer.concat(chunks), reading, take)
  })
  req.on('error', () => {}) // a client that leaves in the middle of its request is owed nothing
}

function readBody(body: Buffer, { req, res, heard }: PostReading, take: OnPosted): void {
  const text = isAscii(body) ? body.toString('latin1') : decodeUtf8(body)
  const message = text === undefined ? undefined : heard.parse(text)
  if (text === undefined || message === undefined) return sendHttpError(res, NOT_JSON)
  take({ req, res, text, message })
}

/** The id of a posted request as the bytes that it came in. */
export function postedId({ text, message }: PostedMessage): string {
  const range = message.kind === 'request' ? findId(text) : undefined
  return range === undefined ? 'null' : text.slice(range.start, range.end)
}

/** What the client can read; one that does not say reads everything. */
export function acceptedTypes({ headers }: ServedRequest): AcceptedTypes {
  const { accept = '*/*' } = headers
  const isAny = accept.includes('*/*')
  return {
    json: isAny || accept.includes('application/json'),
    stream: isAny || accept.includes('text/event-stream'),
  }
}

const NOT_JSON = { status: 400, code: -32700, message: 'Parse error: Invalid JSON' }
const NOT_JSON_TYPE = {
  status: 415,
  code: -32000,
  message: 'Unsupported Media Type: Content-Type must be application/json',
}
const TOO_LONG = { status: 413, code: -32000, message: 'Payload Too Large', headers: { Connection: 'close' } }

function isJson(type: HeaderRecord[string]): boolean {
  if (type === 'application/json') return true
  return typeof type === 'string' && type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** What is said to a request that never gets as far as the tape, as servers of its era would say it. */
export interface HttpErrorResponse {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `id` is JSON: the id of the request, where it is known. */
export function sendHttpError(res: ServedResponse, refusal: HttpErrorResponse, id = 'null'): void {
  const { status, code, message, data, headers } = refusal
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
