import { isAscii, isUtf8 } from 'node:buffer'
import type { Mark, TapeWriter } from '../store/append.ts'
import { rawPayload } from '../store/raw-payload.ts'
import type { PayloadRange } from '../store/recheck.ts'
import { JsonCheck } from '../wire/json-check.ts'
import { LineParts, type LineOfParts } from './line-parts.ts'

export interface TapOptions {
  readonly writer: TapeWriter
  /** The envelope between `t` and the payload: `,"server":…,"dir":…`, in ASCII. */
  readonly place: string
  /** Milliseconds since the tape began. */
  readonly now: () => number
  readonly maxLineBytes: number
  /** A long message was written that has only been glanced at: it must be checked before the tape is closed. */
  readonly onUnchecked: (payload: PayloadRange) => void
  readonly onMessage?: (text: string) => void
}

/**
 * Puts one direction of a link on the tape, with the bytes of each line unchanged. `put` writes whole lines without looking
 * into them, so that the link need not wait for that; `settle` looks, and what is no message after all is written again as what it is.
 */
export class Tap {
  readonly #options: TapOptions
  readonly #place: Uint8Array
  readonly #check = new JsonCheck()
  readonly #parts: LineParts
  #lines: LineOfParts[] = []
  #ends: number[] = []
  #mark: Mark = { length: 0, frames: 0 }
  #time = 0

  constructor(options: TapOptions) {
    this.#options = options
    this.#place = Buffer.from(`${options.place},"msg":`, 'latin1')
    this.#parts = new LineParts(options.maxLineBytes)
  }

  /** Whether this chunk may end a line so long that writing it takes longer than handing it on. */
  isLong(chunk: Uint8Array): boolean {
    return this.#parts.bytes + chunk.length > LONG
  }

  put(chunk: Uint8Array): void {
    this.#begin()
    this.#parts.split(chunk, this.#lines)
    this.#writeAll()
  }

  /** The peer is done: what stands without a newline is its last line. */
  end(): void {
    this.#begin()
    this.#parts.end(this.#lines)
    this.#writeAll()
    this.settle()
  }

  settle(): void {
    const isMessage = this.#lines.map((line) => this.#isMessage(line))
    if (isMessage.includes(false)) this.#writeAgain(isMessage)
    for (const [index, line] of this.#lines.entries())
      if (isMessage[index] === true) this.#tell(line, this.#ends[index]!)
    this.#lines = []
  }

  #begin(): void {
    this.#time = this.#options.now()
    this.#mark = this.#options.writer.mark()
  }

  #writeAll(): void {
    this.#ends = this.#lines.map((line) => this.#writeMessage(line))
    this.#options.writer.flush()
  }

  #writeMessage({ parts, chunk, start, end }: LineOfParts): number {
    const { writer } = this.#options
    writer.frame(this.#time, this.#place, parts, chunk, start, end)
    return writer.position - FRAME_END
  }

  #writeAgain(isMessage: readonly boolean[]): void {
    const { writer } = this.#options
    writer.rewind(this.#mark)
    this.#ends = this.#lines.map((line, index) =>
      isMessage[index] === true ? this.#writeMessage(line) : this.#writeRaw(line),
    )
    writer.flush()
  }

  #writeRaw(line: LineOfParts): number {
    const { writer, place, maxLineBytes } = this.#options
    const why =
      line.bytes > maxLineBytes
        ? `a line of ${line.bytes} bytes; at most ${maxLineBytes} are kept`
        : undefined
    const payload = rawPayload(why === undefined ? bytesOf(line) : bytesOf(line).subarray(0, RAW_HEAD), why)
    if (payload !== undefined) writer.rareFrame(`,"t":${milliseconds(this.#time)}${place},${payload}`)
    return writer.position
  }

  #isMessage(line: LineOfParts): boolean {
    const { parts, chunk, start, end, bytes } = line
    if (bytes > this.#options.maxLineBytes) return false
    if (bytes > CHECK_AT_ONCE && looksLikeJson(line)) return true
    this.#check.reset()
    for (const part of parts) this.#check.feed(part, 0, part.length)
    this.#check.feed(chunk, start, end)
    return this.#check.isComplete() && isText(line)
  }

  #tell(line: LineOfParts, payloadEnd: number): void {
    const { onUnchecked, onMessage } = this.#options
    if (line.bytes > CHECK_AT_ONCE) onUnchecked({ start: payloadEnd - line.bytes, end: payloadEnd })
    onMessage?.(bytesOf(line).toString('utf8'))
  }
}

const LONG = 128 * 1024
/** Longer lines get the exact check when the session is over: it would cost the link more than the whole relay. */
const CHECK_AT_ONCE = 8 * 1024
/** How much of a line that is too long for the tape is kept of it. */
const RAW_HEAD = 4096
const FRAME_END = '}\n'.length
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')

/** At most three decimals, so that a line stays short. */
export function milliseconds(value: number): number {
  return Math.round(value * 1000) / 1000
}

function looksLikeJson({ parts, chunk, start, end }: LineOfParts): boolean {
  const first = parts[0]?.[0] ?? chunk[start]
  const last = end > start ? chunk[end - 1] : parts.at(-1)?.at(-1)
  return (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET)
}

function isText(line: LineOfParts): boolean {
  const { parts, chunk, start, end } = line
  const bytes = parts.length === 0 ? chunk.subarray(start, end) : bytesOf(line)
  return isAscii(bytes) || isUtf8(bytes)
}

function bytesOf({ parts, chunk, start, end }: LineOfParts): Buffer {
  return Buffer.concat([...parts, chunk.subarray(start, end)])
}
