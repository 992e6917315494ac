import { isAscii, isUtf8 } from 'node:buffer'
import type { TapeWriter } from '../store/append.ts'
import { rawPayload } from '../store/raw-payload.ts'
import type { PayloadRange } from '../store/recheck.ts'
import { milliseconds } from '../tape/time.ts'
import { JsonCheck } from '../wire/json-check.ts'
import { cutPayload } from './cut-payload.ts'
import { LineParts, type LineOfParts } from './line-parts.ts'

export interface TapOptions {
  /** The writer of the tape that is open now: a limit may have begun another. */
  readonly writer: () => TapeWriter
  /** The envelope between `t` and the payload: `,"server":…,"dir":…`, in ASCII. */
  readonly place: string
  /** Milliseconds since the tape began. */
  readonly now: () => number
  readonly maxLineBytes: number
  /** Of longer messages only so much is taped, where the user asked for that. */
  readonly cutBytes?: number | undefined
  /** A long message was written that has only been glanced at: it must be checked before the tape is closed. */
  readonly onUnchecked: (payload: PayloadRange) => void
  readonly onMessage?: (text: string) => void
  /** Which lines are taped; looking into them costs time, so only when the user asked for a choice. */
  readonly keeps?: (text: string) => boolean
}

/** Puts one direction of a link on the tape, with the bytes of each line unchanged. */
export class Tap {
  readonly #options: TapOptions
  readonly #place: Uint8Array
  readonly #check = new JsonCheck()
  readonly #parts: LineParts
  readonly #longest: number
  #taken: readonly LineOfParts[] = NOTHING
  #isAscii: boolean | undefined

  constructor(options: TapOptions) {
    this.#options = options
    this.#place = Buffer.from(`${options.place},"msg":`, 'latin1')
    this.#parts = new LineParts(options.maxLineBytes)
    this.#longest = Math.min(options.maxLineBytes, options.cutBytes ?? Infinity)
  }

  /** Takes the lines that this chunk ends; says whether they are so much that writing them takes longer than handing the chunk on. */
  take(chunk: Uint8Array): boolean {
    const isLong = this.#parts.bytes + chunk.length > LONG
    this.#isAscii = undefined
    this.#taken = this.#parts.split(chunk)
    return isLong || this.#taken.length > FEW
  }

  /** Writes what was taken, and returns how many lines it was. */
  write(): number {
    const lines = this.#taken
    this.#taken = NOTHING // a long line must not be kept in memory until the next one
    return this.#writeAll(lines)
  }

  /** The peer is done: what stands without a newline is its last line. */
  end(): number {
    return this.#writeAll(this.#parts.end())
  }

  #writeAll(lines: readonly LineOfParts[]): number {
    const { now, writer, keeps } = this.#options
    const time = now()
    const kept = keeps === undefined ? lines : lines.filter((line) => keeps(bytesOf(line).toString('utf8')))
    for (const line of kept) {
      if (this.#isMessage(line)) this.#writeMessage(line, time)
      else this.#writeRaw(line, time)
    }
    writer().flush()
    return kept.length
  }

  #isMessage(line: LineOfParts): boolean {
    const { parts, chunk, start, end, bytes } = line
    if (bytes > this.#longest) return false
    if (bytes > CHECK_AT_ONCE && looksLikeJson(line)) return true
    this.#check.reset()
    for (const part of parts) this.#check.feed(part, 0, part.length)
    this.#check.feed(chunk, start, end)
    return this.#check.isComplete() && this.#isText(line)
  }

  /** One look at a whole chunk usually speaks for all of its lines. */
  #isText(line: LineOfParts): boolean {
    if (line.parts.length > 0) return isUtf8(bytesOf(line))
    this.#isAscii ??= isAscii(line.chunk)
    return this.#isAscii || isUtf8(line.chunk.subarray(line.start, line.end))
  }

  #writeMessage(line: LineOfParts, time: number): void {
    const { onUnchecked, onMessage } = this.#options
    const writer = this.#options.writer()
    writer.frame(time, this.#place, line.parts, line.chunk, line.start, line.end)
    const end = writer.position - FRAME_END
    if (line.bytes > CHECK_AT_ONCE) onUnchecked({ start: end - line.bytes, end })
    onMessage?.(bytesOf(line).toString('utf8'))
  }

  #writeRaw(line: LineOfParts, time: number): void {
    const payload = this.#rawPayload(line)
    if (payload !== undefined)
      this.#options.writer().rareFrame(`,"t":${milliseconds(time)}${this.#options.place},${payload}`)
  }

  #rawPayload(line: LineOfParts): string | undefined {
    const { maxLineBytes } = this.#options
    const bytes = bytesOf(line)
    if (line.bytes > maxLineBytes)
      return rawPayload(
        bytes.subarray(0, RAW_HEAD),
        `a line of ${line.bytes} bytes; at most ${maxLineBytes} are kept`,
      )
    return (line.bytes > this.#longest ? cutPayload(bytes, this.#longest) : undefined) ?? rawPayload(bytes)
  }
}

const NOTHING: readonly LineOfParts[] = []
const LONG = 128 * 1024
const FEW = 4
/** Longer lines get the exact check when the session is over: it would cost the link more than the whole relay. */
const CHECK_AT_ONCE = 8 * 1024
/** How much of a line that is too long for the tape is kept of it. */
const RAW_HEAD = 4096
const FRAME_END = '}\n'.length
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')

function looksLikeJson({ parts, chunk, start, end }: LineOfParts): boolean {
  const first = parts[0]?.[0] ?? chunk[start]
  const last = end > start ? chunk[end - 1] : parts.at(-1)?.at(-1)
  return (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET)
}

function bytesOf({ parts, chunk, start, end }: LineOfParts): Buffer {
  return Buffer.concat([...parts, chunk.subarray(start, end)])
}
