import { headerOf, type RawHeaders } from '../transport/http-heads.ts'
import { BoundedBytes } from '../wire/bounded-bytes.ts'
import { isObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { noBody, type BodyOptions, type BodyTape } from './http-bodies.ts'
import { maskForm, maskJson } from './http-secrets.ts'

const FORM = 'application/x-www-form-urlencoded'
const TEXT = /^$|^text\/plain$|[/+]json$/
/** What is longer and no message is not kept. */
const LONGEST = 64 * 1024
const NO_MESSAGE = 'no JSON-RPC message'

/**
 * A body of which nobody said that it is MCP: clients also fetch tokens through a forward proxy. Messages are taped as they
 * are; forms and other JSON with their secrets masked; pages, pictures and the like not at all.
 */
export function anyBody(options: BodyOptions, headers: RawHeaders): BodyTape {
  const type = (headerOf(headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === FORM) return maskedBody(options, maskForm)
  return TEXT.test(type) ? maskedBody(options, maskJson) : noBody
}

function maskedBody(
  { frames, place, maxBytes }: BodyOptions,
  mask: (text: string) => string | undefined,
): BodyTape {
  const body = new BoundedBytes(maxBytes)
  let isOver = false
  const other = (): void => {
    if (body.length > LONGEST) return
    const masked = mask(Buffer.concat(body.parts).toString())
    if (masked !== undefined) frames.raw(place, bytesOf(masked), NO_MESSAGE)
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

function bytesOf(text: string): BoundedBytes {
  const bytes = new BoundedBytes(Number.MAX_SAFE_INTEGER)
  bytes.add(Buffer.from(text))
  return bytes
}
