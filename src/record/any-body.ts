import { headerOf, type RawHeaders } from '../transport/http-heads.ts'
import { BoundedBytes } from '../wire/bounded-bytes.ts'
import { isObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { noBody, type BodyOptions, type BodyTape } from './http-bodies.ts'

const FORM = 'application/x-www-form-urlencoded'
const TEXT = /^$|^text\/plain$|[/+]json$/
/** What is longer and no message is not kept. */
const LONGEST = 64 * 1024
const NO_MESSAGE = 'no JSON-RPC message'

/**
 * A body of which nobody said that it is MCP: clients also fetch tokens through a forward proxy. Messages, forms and other JSON
 * are taped; pages, pictures and the like not at all.
 */
export function anyBody(options: BodyOptions, headers: RawHeaders): BodyTape {
  const type = (headerOf(headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === FORM) return textBody(options, () => true)
  return TEXT.test(type) ? textBody(options, (text) => parseJson(text) !== undefined) : noBody
}

function textBody({ frames, place, maxBytes }: BodyOptions, isTaped: (text: string) => boolean): BodyTape {
  const body = new BoundedBytes(maxBytes)
  let isOver = false
  const other = (): void => {
    if (body.length > LONGEST || !isTaped(Buffer.concat(body.parts).toString())) return
    frames.raw(place, body, NO_MESSAGE, 'authorization')
  }
  const finish = (put: () => void) => (): void => {
    if (!isOver) put()
    isOver = true
  }
  return {
    chunk: (bytes) => body.add(bytes),
    end: finish(() => {
      if (!isMessage(body) || !frames.message(place, body)) other()
    }),
    cut: finish(() => {
      if (saysJsonRpc(body)) frames.raw(place, body, 'cut off')
    }),
  }
}

/** A long body is only glanced at: no token is that long. */
function isMessage(body: BoundedBytes): boolean {
  if (!saysJsonRpc(body)) return false
  if (body.length > LONGEST) return true
  const value = parseJson(Buffer.concat(body.parts).toString())
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.every((each) => isObject(each) && each['jsonrpc'] !== undefined)
}

function saysJsonRpc({ parts }: BoundedBytes): boolean {
  const ends = parts.length < 3 ? parts : [parts[0]!, parts.at(-2)!, parts.at(-1)!]
  return Buffer.concat(ends).includes('"jsonrpc"')
}
