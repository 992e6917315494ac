import { classifyMessage } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import { LinePrefixScanner, type LinePrefix } from '../tape/line-prefix.ts'
import type { MessageFrame } from '../tape/frame.ts'

/** Reads messages as the recorder writes them by the bytes of their lines: nothing but the message becomes a text, and stays. */
export class MessageFrameScanner {
  readonly #envelopes = new LinePrefixScanner()

  /** Undefined for whatever is to be looked at more closely: all else is for `decodeFrame`. */
  read(line: Buffer): MessageFrame | undefined {
    const envelope = this.#envelopes.read(line, 0)
    if (envelope?.payload !== 'msg' || line.at(-1) !== CLOSE_BRACE) return undefined
    const text = line.toString('utf8', envelope.payloadStart, line.length - 1)
    const value = text.includes(REPLACEMENT_CHARACTER) ? undefined : parseJson(text)
    return value === undefined ? undefined : messageFrameOf(envelope, text.trim(), value)
  }
}

const CLOSE_BRACE = 0x7d
// Stands where bytes are no UTF-8, and seldom in a text.
const REPLACEMENT_CHARACTER = '\uFFFD'

function messageFrameOf(envelope: LinePrefix, text: string, value: unknown): MessageFrame {
  const { n, t, server, conn, x, dir, sse } = envelope
  const message = classifyMessage(value)
  if (x === undefined && sse === undefined) return { kind: 'message', n, t, server, conn, dir, text, message }
  const place = { n, t, server, conn, ...(x === undefined ? {} : { x }), dir }
  return { kind: 'message', ...place, ...(sse === undefined ? {} : { sse }), text, message }
}
