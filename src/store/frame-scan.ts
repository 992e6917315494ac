import { classify } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { EnvelopeScan, type Envelope } from '../tape/envelope-scan.ts'
import type { MessageFrame } from '../tape/frame.ts'

/** Reads messages as the recorder writes them by the bytes of their lines: nothing but the message becomes a text, and stays. */
export class FrameScan {
  readonly #envelopes = new EnvelopeScan()

  /** Undefined for whatever is to be looked at more closely: all else is for `decodeFrame`. */
  read(line: Buffer): MessageFrame | undefined {
    const envelope = this.#envelopes.read(line, 0)
    if (envelope?.payload !== 'msg' || line.at(-1) !== CLOSE) return undefined
    const text = line.toString('utf8', envelope.at, line.length - 1)
    const value = text.includes(REPLACEMENT) ? undefined : parseJson(text)
    return value === undefined ? undefined : frameOf(envelope, text.trim(), value)
  }
}

const CLOSE = 0x7d
// Stands where bytes are no UTF-8, and seldom in a text.
const REPLACEMENT = '\uFFFD'

function frameOf(envelope: Envelope, text: string, value: unknown): MessageFrame {
  const { n, t, server, conn, x, dir, sse } = envelope
  const message = classify(value)
  if (x === undefined && sse === undefined) return { kind: 'message', n, t, server, conn, dir, text, message }
  const place = { n, t, server, conn, ...(x === undefined ? {} : { x }), dir }
  return { kind: 'message', ...place, ...(sse === undefined ? {} : { sse }), text, message }
}
