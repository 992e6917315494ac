import type { IncomingMessage, ServerResponse } from 'node:http'
import { decodeUtf8, MAX_LINE_BYTES } from '../../wire/lines.ts'
import type { Message } from '../../wire/message.ts'
import { rangeAt } from '../../wire/members.ts'
import type { HeardTexts } from '../heard-texts.ts'
import type { Accepts } from './post-exchange.ts'
import { refuse } from './refusal.ts'

/** A message that a client posted, and the way to answer it. */
export interface Posted {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly text: string
  readonly message: Message
}

/** Reads the message of a POST; what is none is refused here. */
export function readPosted(
  { req, res, heard }: Pick<Posted, 'req' | 'res'> & { readonly heard: HeardTexts },
  take: (posted: Posted) => void,
): void {
  if (!isJson(req.headers['content-type'])) return refuse(leave(req, res), NOT_JSON_TYPE)
  const chunks: Buffer[] = []
  let length = 0
  req.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= MAX_LINE_BYTES) chunks.push(chunk)
    else if (!res.headersSent) refuse(leave(req, res), TOO_LONG)
  })
  req.on('end', () => {
    if (res.headersSent) return
    const text = decodeUtf8(chunks.length === 1 ? (chunks[0] ?? NOTHING) : Buffer.concat(chunks))
    const message = text === undefined ? undefined : heard.read(text)
    if (text === undefined || message === undefined) return refuse(res, NOT_JSON)
    take({ req, res, text, message })
  })
  req.on('error', () => {}) // a client that leaves in the middle of its request is owed nothing
}

/** The id of a posted request as the bytes that it came in. */
export function postedId({ text, message }: Posted): string {
  const range = message.kind === 'request' ? rangeAt(text, ['id']) : undefined
  return range === undefined ? 'null' : text.slice(range.start, range.end)
}

/** What the client can read; one that does not say reads everything. */
export function acceptsOf({ headers }: IncomingMessage): Accepts {
  const { accept = '*/*' } = headers
  const isAny = accept.includes('*/*')
  return {
    json: isAny || accept.includes('application/json'),
    stream: isAny || accept.includes('text/event-stream'),
  }
}

const NOTHING = Buffer.alloc(0)
const NOT_JSON = { status: 400, code: -32700, message: 'Parse error: Invalid JSON' }
const NOT_JSON_TYPE = {
  status: 415,
  code: -32000,
  message: 'Unsupported Media Type: Content-Type must be application/json',
}
const TOO_LONG = { status: 413, code: -32000, message: 'Payload Too Large', headers: { Connection: 'close' } }

function isJson(type: string | undefined): boolean {
  if (type === 'application/json') return true
  return type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** What is left of the request is not looked at. */
function leave(req: IncomingMessage, res: ServerResponse): ServerResponse {
  req.resume()
  return res
}
