import { findHeader, type RawHeaders } from '../../http/headers.ts'
import { parseJson } from '../../json/parse.ts'
import { isObject } from '../../protocol/message.ts'
import { BoundedBytes, SseReader, type SseEvent } from '../../protocol/sse.ts'
import type { ExchangeFrames } from './exchange-frames.ts'
import { encodeSse } from '../../tape/codec.ts'

/** A body on its way to the tape. */
export interface BodySink {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
  /** The body will not come to its end. */
  readonly cut: () => void
}

export interface BodySinkOptions {
  readonly frames: Pick<ExchangeFrames, 'message' | 'raw' | 'redactedId'>
  /** The envelope between `t` and the payload. */
  readonly place: string
  readonly maxBytes: number
}

const CUT_OFF = 'cut off'

/** A body that is of no interest. */
export const ignoredBody: BodySink = { chunk() {}, end() {}, cut() {} }

/** A body that is one message, or something else. */
export function wholeBodySink({ frames, place, maxBytes }: BodySinkOptions, why?: string): BodySink {
  const body = new BoundedBytes(maxBytes)
  return endingOnce({
    chunk: (bytes) => body.add(bytes),
    end: () => {
      if (why !== undefined || !frames.message(place, body)) frames.raw(place, body, why)
    },
    cut: () => frames.raw(place, body, CUT_OFF),
  })
}

interface EventStreamSinkOptions extends BodySinkOptions {
  readonly onEvent: (event: string, details: Readonly<Record<string, unknown>>) => void
  /** What a legacy server names as the place to post to. */
  readonly onEndpoint: (data: string) => void
}

/** A stream of server-sent events; what holds no message becomes an event frame. */
export function eventStreamSink(options: EventStreamSinkOptions): BodySink {
  const { frames, place, maxBytes, onEvent } = options
  const reader = new SseReader({
    maxBytes,
    onEvent: (event) => writeEvent(options, event),
    onComment: (comment) => onEvent('sse', { comment }),
  })
  return endingOnce({
    chunk: (bytes) => reader.push(bytes),
    end: () => {
      frames.raw(place, reader.end(), 'the stream ended within an event')
      onEvent('end-of-stream', { by: 'server' })
    },
    cut: () => frames.raw(place, reader.end(), CUT_OFF),
  })
}

/** A body that came to its end cannot be cut off any more. */
function endingOnce({ chunk, end, cut }: BodySink): BodySink {
  let isOver = false
  const once = (work: () => void) => (): void => {
    if (!isOver) work()
    isOver = true
  }
  return { chunk, end: once(end), cut: once(cut) }
}

function writeEvent({ frames, place, onEvent, onEndpoint }: EventStreamSinkOptions, found: SseEvent): void {
  const { data, ...sse } = found
  const redacted = sse.id === undefined ? sse : { ...sse, id: frames.redactedId(sse.id) }
  const where = `${place}${encodeSse(redacted)}`
  if (data !== undefined && frames.message(where, data)) return
  const text = data === undefined ? undefined : Buffer.concat(data.parts).toString()
  if (text && (sse.event ?? 'message') === 'message') return frames.raw(where, data!)
  if (sse.event === 'endpoint') onEndpoint(text ?? '')
  onEvent('sse', { sse, data: text })
}

const FORM = 'application/x-www-form-urlencoded'
const TEXT = /^$|^text\/plain$|[/+]json$/
/** What is longer and no message is not kept. */
const MAX_OTHER_BYTES = 64 * 1024
const NOT_JSON_RPC = 'no JSON-RPC message'

/**
 * A body of which nobody said that it is MCP: clients also fetch tokens through a forward proxy. Messages, forms and other JSON
 * are taped; pages, pictures and the like not at all.
 */
export function undeclaredBodySink(options: BodySinkOptions, headers: RawHeaders): BodySink {
  const type = (findHeader(headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === FORM) return textBodySink(options, () => true)
  return TEXT.test(type) ? textBodySink(options, (text) => parseJson(text) !== undefined) : ignoredBody
}

function textBodySink(
  { frames, place, maxBytes }: BodySinkOptions,
  isTaped: (text: string) => boolean,
): BodySink {
  const body = new BoundedBytes(maxBytes)
  let isOver = false
  const other = (): void => {
    if (body.length > MAX_OTHER_BYTES || !isTaped(Buffer.concat(body.parts).toString())) return
    frames.raw(place, body, NOT_JSON_RPC, 'authorization')
  }
  const finish = (put: () => void) => (): void => {
    if (!isOver) put()
    isOver = true
  }
  return {
    chunk: (bytes) => body.add(bytes),
    end: finish(() => {
      if (!isJsonRpcBody(body) || !frames.message(place, body)) other()
    }),
    cut: finish(() => {
      if (mentionsJsonRpc(body)) frames.raw(place, body, 'cut off')
    }),
  }
}

/** A long body is only glanced at: no token is that long. */
function isJsonRpcBody(body: BoundedBytes): boolean {
  if (!mentionsJsonRpc(body)) return false
  if (body.length > MAX_OTHER_BYTES) return true
  const value = parseJson(Buffer.concat(body.parts).toString())
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.every((each) => isObject(each) && each['jsonrpc'] !== undefined)
}

function mentionsJsonRpc({ parts }: BoundedBytes): boolean {
  const ends = parts.length < 3 ? parts : [parts[0]!, parts.at(-2)!, parts.at(-1)!]
  return Buffer.concat(ends).includes('"jsonrpc"')
}
