import { isUtf8 } from 'node:buffer'
import { StringDecoder } from 'node:string_decoder'
import type { RawHeaders } from '../http/headers.ts'
import { parseJson } from '../json/parse.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { HeaderList } from '../tape/frame.ts'

type EventDetails = Readonly<Record<string, unknown>>

/** What an event frame says behind its place: `,"event":…` and its details. */
export function encodeEventMembers(
  event: string,
  details: EventDetails,
  redactor: Redactor | undefined,
): string {
  return `,"event":${JSON.stringify(event)}${encodeMembers(details, redactor)}`
}

/** Members behind others, with a comma before each. */
export function encodeMembers(details: EventDetails, redactor: Redactor | undefined): string {
  const text = JSON.stringify(details)
  const members = (redactor?.text(text) ?? text).slice(1, -1)
  return members === '' ? '' : `,${members}`
}

/**
 * What stands on the tape for a message that is longer than the user wants to keep: its beginning, how long it was, and
 * what its id and method were, so that readers know whose answer is missing. Undefined for what is no message.
 */
export function truncatedPayload(bytes: Uint8Array, keep: number): string | undefined {
  const text = new StringDecoder('utf8').write(Buffer.from(bytes))
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const cut = JSON.stringify({ bytes: bytes.length, ...messageIdentity(classifyMessage(value)) })
  // The decoder leaves out half a character at the end.
  const head = new StringDecoder('utf8').write(Buffer.from(bytes.subarray(0, keep)))
  const why = `cut: ${keep} of ${bytes.length} bytes are kept`
  return `"cut":${cut},"raw":${JSON.stringify(head)},"why":${JSON.stringify(why)}`
}

function messageIdentity(message: Message): object {
  switch (message.kind) {
    case 'request':
      return { id: message.id, method: message.method }
    case 'notification':
      return { method: message.method }
    case 'response':
      return message.id === null ? {} : { id: message.id }
    case 'batch':
    case 'invalid':
      return {}
  }
}

/** Bytes of any kind without their secrets. */
export function redactBytes(bytes: Buffer, redactor: Pick<Redactor, 'text'> | undefined): Buffer {
  if (redactor === undefined) return bytes
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  const text = bytes.toString(encoding)
  const redacted = redactor.text(text)
  return redacted === text ? bytes : Buffer.from(redacted, encoding)
}

/** The beginning of bytes that are too many. Their secrets go first: a cut would leave half of one, which nobody can tell. */
export function redactPrefix(bytes: Buffer, length: number, redactor: Redactor | undefined): Buffer {
  if (redactor === undefined) return bytes.subarray(0, length)
  const known = redactBytes(bytes.subarray(0, length + MARGIN_BYTES), redactor)
  return known.subarray(0, Math.min(length, Math.max(known.length - MARGIN_BYTES, 0)))
}

/** Longer than a token. */
const MARGIN_BYTES = 2048

/** The headers as they go on the tape: all names as they were spelled, and the values without secrets. */
export function redactHeaderList(headers: RawHeaders, redactor: Redactor | undefined): HeaderList {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    pairs.push([name, redactor?.header(name, value) ?? value])
  }
  return pairs
}
