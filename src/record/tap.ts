import { isAscii, isUtf8 } from 'node:buffer'
import type { TapeWriter } from '../store/append.ts'
import { rawPayload } from '../store/raw-payload.ts'
import type { PayloadRange } from '../store/recheck.ts'
import type { Direction } from '../wire/direction.ts'
import { JsonCheck } from '../wire/json-check.ts'

export interface TapOptions {
  readonly writer: TapeWriter
  /** The envelope between `n` and `t` and the payload: `,"server":…,"dir":…`, in ASCII. */
  readonly place: string
  readonly dir: Direction
  /** Milliseconds since the tape began. */
  readonly now: () => number
  readonly maxLineBytes: number
  /** A long message was written that has only been glanced at: it must be checked before the tape is closed. */
  readonly onUnchecked: (payload: PayloadRange) => void
  readonly onMessage?: (dir: Direction, text: string) => void
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const NOTHING = new Uint8Array(0)

/** Splits one direction of a link into lines and puts them on the tape with their bytes unchanged. */
export class Tap {
  readonly #options: TapOptions
  readonly #check = new JsonCheck()
  #parts: Uint8Array[] = []
  #partBytes = 0
  readonly #place: Uint8Array
  #isAscii: boolean | undefined
  #time = 0

  constructor(options: TapOptions) {
    this.#options = options
    this.#place = Buffer.from(`${options.place},"msg":`, 'latin1')
  }

  push(chunk: Uint8Array): void {
    this.#isAscii = undefined
    this.#time = this.#options.now()
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#finishLine(chunk, start, end)
      start = end + 1
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start))
  }

  /** The peer is done: what stands without a newline is its last line. */
  end(): void {
    this.#time = this.#options.now()
    if (this.#partBytes > 0) this.#finishLine(NOTHING, 0, 0)
  }

  #keep(part: Uint8Array): void {
    this.#partBytes += part.length
    if (this.#partBytes <= this.#options.maxLineBytes) this.#parts.push(part)
    else this.#parts = [this.#parts[0] ?? part] // too long for the tape: its head is enough to name it
  }

  #finishLine(chunk: Uint8Array, start: number, lineEnd: number): void {
    const end = lineEnd > start && chunk[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd
    if (lineEnd === start) this.#dropCarriageReturn()
    const length = this.#partBytes + end - start
    if (length === 0) return
    if (this.#isMessage(chunk, start, end, length)) this.#writeMessage(chunk, start, end, length)
    else this.#writeRaw(chunk.subarray(start, end), length)
    this.#parts = []
    this.#partBytes = 0
  }

  /** The chunks were cut between the two bytes of a CRLF. */
  #dropCarriageReturn(): void {
    const last = this.#parts.at(-1)
    if (last?.at(-1) !== CARRIAGE_RETURN) return
    this.#parts[this.#parts.length - 1] = last.subarray(0, -1)
    this.#partBytes--
  }

  #isMessage(chunk: Uint8Array, start: number, end: number, length: number): boolean {
    if (length > this.#options.maxLineBytes) return false
    if (length > CHECK_AT_ONCE && this.#looksLikeJson(chunk, start, end)) return true
    this.#check.reset()
    for (const part of this.#parts) this.#check.feed(part, 0, part.length)
    this.#check.feed(chunk, start, end)
    return this.#check.isComplete() && this.#isUtf8(chunk, start, end)
  }

  #looksLikeJson(chunk: Uint8Array, start: number, end: number): boolean {
    const first = this.#parts[0]?.[0] ?? chunk[start]
    const last = end > start ? chunk[end - 1] : this.#parts.at(-1)?.at(-1)
    return (
      (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET)
    )
  }

  #isUtf8(chunk: Uint8Array, start: number, end: number): boolean {
    const last = chunk.subarray(start, end)
    if (this.#parts.length > 0) return isUtf8(Buffer.concat([...this.#parts, last]))
    this.#isAscii ??= isAscii(chunk)
    return this.#isAscii || isUtf8(last)
  }

  #writeMessage(chunk: Uint8Array, start: number, end: number, length: number): void {
    const { writer, dir, onMessage, onUnchecked } = this.#options
    writer.frame(this.#time, this.#place, this.#parts, chunk, start, end)
    const payloadEnd = writer.position - FRAME_END
    if (length > CHECK_AT_ONCE) onUnchecked({ start: payloadEnd - length, end: payloadEnd })
    if (onMessage) onMessage(dir, textOf([...this.#parts, chunk.subarray(start, end)]))
  }

  #writeRaw(last: Uint8Array, length: number): void {
    const { writer, place, maxLineBytes } = this.#options
    const tooLong = length > maxLineBytes
    const bytes = tooLong
      ? (this.#parts[0] ?? last).subarray(0, RAW_HEAD)
      : Buffer.concat([...this.#parts, last])
    const payload = tooLong ? rawPayload(bytes, tooLongFor(length, maxLineBytes)) : rawPayload(bytes)
    if (payload !== undefined) writer.rareFrame(`,"t":${milliseconds(this.#time)}${place},${payload}`)
  }
}

/** Longer lines get the exact check when the session is over: it would cost the link more than the whole relay. */
const CHECK_AT_ONCE = 8 * 1024
const FRAME_END = '}\n'.length
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')

/** How much of a line that is too long for the tape is kept of it. */
const RAW_HEAD = 4096

/** At most three decimals, so that a line stays short. */
export function milliseconds(value: number): number {
  return Math.round(value * 1000) / 1000
}

function textOf(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString('utf8')
}

function tooLongFor(length: number, maxLineBytes: number): string {
  return `a line of ${length} bytes; at most ${maxLineBytes} are kept`
}
