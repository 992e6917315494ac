import { isUtf8 } from 'node:buffer'
import { rawPayload } from '../../store/file/write.ts'
import type { BoundedBytes, SseEvent } from '../../protocol/sse.ts'
import { JsonValidator } from '../../json/validator.ts'
import { truncatedPayload, redactBytes, redactPrefix } from '../frame-payloads.ts'
import type { TapeLog } from '../tape-log.ts'

const NOTHING = new Uint8Array(0)
const LINE_FEED = 10
const SPACE = 32
/** Longer messages get the exact check when the session is over. */
const MAX_CHECKED_BYTES = 8 * 1024
/** How much of a body that is too long for the tape is kept of it. */
const RAW_HEAD_BYTES = 4096
const MAX_PLACE_LENGTH = 64 * 1024
const FRAME_END = '}\n'.length
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')

/** Puts bodies on the tape that came whole, unlike lines: what is a message as a message, with its bytes unchanged. */
export class BodyFrameWriter {
  readonly #log: TapeLog
  readonly #now: () => number
  readonly #cutBytes: number
  readonly #check = new JsonValidator()

  /** Of a message longer than `cutBytes` only that much is written. */
  constructor(log: TapeLog, now: () => number, cutBytes: number = Infinity) {
    this.#log = log
    this.#now = now
    this.#cutBytes = cutBytes
  }

  /** Writes a message frame, or nothing when the bytes are no JSON object or array. */
  message(place: string, body: BoundedBytes): boolean {
    if (!body.isComplete || place.length > MAX_PLACE_LENGTH) return false
    if (body.length > this.#cutBytes) return this.#writeCut(place, body)
    if (!this.#isMessage(body)) return false
    this.#write(place, body)
    this.#log.countMessages(1)
    return true
  }

  /** Writes the bytes, and why they are no message; nothing for blank ones. A body for an authorization server has names that say what is secret. */
  raw(place: string, body: BoundedBytes, why?: string, kind: 'any' | 'authorization' = 'any'): void {
    const bytes = Buffer.concat(body.parts)
    const { redactor } = this.#log
    const asForm = redactor && { text: (text: string) => redactor.form(text) }
    const payload = body.isComplete
      ? rawPayload(redactBytes(bytes, kind === 'any' ? redactor : asForm), why)
      : rawPayload(
          redactPrefix(bytes, RAW_HEAD_BYTES, redactor),
          `a body of ${body.length} bytes, which is too long to be kept`,
        )
    if (payload === undefined) return
    this.#log.bufferFrame(this.#now(), `${place},${payload}`)
    this.#log.countMessages(1)
  }

  #writeCut(place: string, { parts }: BoundedBytes): boolean {
    // Secrets go before anything is cut off: half of one cannot be told.
    const payload = truncatedPayload(redactBytes(Buffer.concat(parts), this.#log.redactor), this.#cutBytes)
    if (payload === undefined) return false
    this.#log.bufferFrame(this.#now(), `${place},${payload}`)
    this.#log.countMessages(1)
    return true
  }

  /** The id of an event stands in the envelope of a message. */
  redactedEvent(event: SseEvent): SseEvent {
    const { redactor } = this.#log
    return redactor === undefined || event.id === undefined
      ? event
      : { ...event, id: redactor.text(event.id) }
  }

  #write(place: string, body: BoundedBytes): void {
    const { writer, validateLater } = this.#log
    if (writer === undefined) return
    const parts = this.#redacted(body.parts)
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    writer.frame(this.#now(), Buffer.from(`${place},"msg":`), parts.map(withoutLineFeeds), NOTHING, 0, 0)
    const end = writer.position - FRAME_END
    if (length > MAX_CHECKED_BYTES) validateLater({ start: end - length, end })
  }

  #redacted(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    const { redactor } = this.#log
    if (redactor === undefined) return parts
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    if (!redactor.mayContainSecrets(bytes)) return parts
    return [Buffer.from(redactor.json(Buffer.from(bytes).toString('utf8')))]
  }

  #isMessage({ parts, length }: BoundedBytes): boolean {
    if (length > MAX_CHECKED_BYTES && looksLikeJson(parts)) return true
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
function withoutLineFeeds(part: Uint8Array): Uint8Array {
  if (!part.includes(LINE_FEED)) return part
  const copy = Uint8Array.from(part)
  for (let at = copy.indexOf(LINE_FEED); at >= 0; at = copy.indexOf(LINE_FEED, at + 1)) copy[at] = SPACE
  return copy
}
