import { findHeader, type RawHeaders } from '../http/headers.ts'
import { BoundedBytes } from '../wire/bounded-bytes.ts'
import { isObject } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import { ignoredBody, type BodySinkOptions, type BodySink } from './http/bodies.ts'

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
