import { isUtf8 } from 'node:buffer'
import { rawPayload } from '../store/raw-payload.ts'
import type { BoundedBytes } from '../wire/bounded-bytes.ts'
import { JsonCheck } from '../wire/json-check.ts'
import { cutPayload } from './cut-payload.ts'
import type { TapeLog } from './tape-log.ts'

const NOTHING = new Uint8Array(0)
const LINE_FEED = 10
const SPACE = 32
/** Longer messages get the exact check when the session is over. */
const CHECK_AT_ONCE = 8 * 1024
/** How much of a body that is too long for the tape is kept of it. */
const RAW_HEAD = 4096
const LONGEST_PLACE = 64 * 1024
const FRAME_END = '}\n'.length
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')

/** Puts bodies on the tape that came whole, unlike lines: what is a message as a message, with its bytes unchanged. */
export class MessageFrames {
  readonly #log: TapeLog
  readonly #now: () => number
  readonly #cutBytes: number
  readonly #check = new JsonCheck()

  /** Of a message longer than `cutBytes` only that much is written. */
  constructor(log: TapeLog, now: () => number, cutBytes: number = Infinity) {
    this.#log = log
    this.#now = now
    this.#cutBytes = cutBytes
  }

  /** Writes a message frame, or nothing when the bytes are no JSON object or array. */
  message(place: string, body: BoundedBytes): boolean {
    if (!body.isWhole || place.length > LONGEST_PLACE) return false
    if (body.length > this.#cutBytes) return this.#writeCut(place, body)
    if (!this.#isMessage(body)) return false
    this.#write(place, body)
    this.#log.settled(1)
    return true
  }

  /** Writes the bytes as they are, and why they are no message; nothing for blank ones. */
  raw(place: string, body: BoundedBytes, why?: string): void {
    const bytes = Buffer.concat(body.parts)
    const payload = body.isWhole
      ? rawPayload(bytes, why)
      : rawPayload(
          bytes.subarray(0, RAW_HEAD),
          `a body of ${body.length} bytes, which is too long to be kept`,
        )
    if (payload === undefined) return
    this.#log.gather(this.#now(), `${place},${payload}`)
    this.#log.settled(1)
  }

  #writeCut(place: string, { parts }: BoundedBytes): boolean {
    const payload = cutPayload(Buffer.concat(parts), this.#cutBytes)
    if (payload === undefined) return false
    this.#log.gather(this.#now(), `${place},${payload}`)
    this.#log.settled(1)
    return true
  }

  #write(place: string, { parts, length }: BoundedBytes): void {
    const { writer, checkLater } = this.#log
    if (writer === undefined) return
    writer.frame(this.#now(), Buffer.from(`${place},"msg":`), parts.map(onOneLine), NOTHING, 0, 0)
    const end = writer.position - FRAME_END
    if (length > CHECK_AT_ONCE) checkLater({ start: end - length, end })
  }

  #isMessage({ parts, length }: BoundedBytes): boolean {
    if (length > CHECK_AT_ONCE && looksLikeJson(parts)) return true
    this.#check.reset()
    for (const part of parts) this.#check.feed(part, 0, part.length)
    return (
      this.#check.isComplete() && isUtf8(parts.length === 1 ? (parts[0] ?? NOTHING) : Buffer.concat(parts))
    )
  }
}

function looksLikeJson(parts: readonly Uint8Array[]): boolean {
  const [first, last] = [parts[0]?.[0], parts.at(-1)?.at(-1)]
  return (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET)
}

/** Between the tokens of a message a line feed means as much as a space; the bytes are still on their way to the peer, so they are copied. */
function onOneLine(part: Uint8Array): Uint8Array {
  if (!part.includes(LINE_FEED)) return part
  const copy = Uint8Array.from(part)
  for (let at = copy.indexOf(LINE_FEED); at >= 0; at = copy.indexOf(LINE_FEED, at + 1)) copy[at] = SPACE
  return copy
}
