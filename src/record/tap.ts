import { isAscii, isUtf8 } from 'node:buffer'
import type { TapeWriter } from '../store/append.ts'
import { rawPayload } from '../store/raw-payload.ts'
import type { PayloadRange } from '../store/recheck.ts'
import { milliseconds } from '../tape/time.ts'
import { JsonCheck } from '../wire/json-check.ts'
import type { Redactor } from '../redact/redactor.ts'
import { cutPayload } from './cut-payload.ts'
import { KeyBlock } from './key-block.ts'
import { LineParts, type LineOfParts } from './line-parts.ts'
import { redactedBytes, redactedHead } from './redacted-bytes.ts'
import { Suspicion } from './suspicion.ts'

export interface TapOptions {
  /** The writer of the tape that is open now: a limit may have begun another. */
  readonly writer: () => TapeWriter
  /** The envelope between `t` and the payload: `,"server":…,"dir":…`, in ASCII. */
  readonly place: string
  /** Milliseconds since the tape began. */
  readonly now: () => number
  readonly maxLineBytes: number
  /** What replaces secrets; without it lines are taped as they are. */
  readonly redactor?: Redactor | undefined
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
  readonly #suspicion: Suspicion | undefined
  readonly #keyBlock = new KeyBlock()
  readonly #longest: number
  #taken: readonly LineOfParts[] = NOTHING
  #chunk: Uint8Array = NO_BYTES
  #isSeen = false
  #isChunkSuspect = false
  #isAscii: boolean | undefined

  constructor(options: TapOptions) {
    this.#options = options
    this.#place = Buffer.from(`${options.place},"msg":`, 'latin1')
    this.#parts = new LineParts(options.maxLineBytes)
    this.#suspicion = options.redactor && new Suspicion(options.redactor)
    this.#longest = Math.min(options.maxLineBytes, options.cutBytes ?? Infinity)
  }

  /** Takes the lines that this chunk ends; says whether taping them takes longer than handing the chunk on: they are long or many, or one may hold a secret. */
  take(chunk: Uint8Array): boolean {
    const isLong = this.#parts.bytes + chunk.length > (this.#suspicion === undefined ? LONG : LONG_TO_LOOK_AT)
    this.#isAscii = undefined
    this.#chunk = chunk
    this.#isSeen = false
    this.#taken = this.#parts.split(chunk)
    return isLong || this.#taken.length === 0 || this.#taken.length > FEW || this.#look()
  }

  /** Writes what was taken, and returns how many lines it was. */
  write(): number {
    const lines = this.#taken
    this.#taken = NOTHING // a long line must not be kept in memory until the next one
    return this.#writeAll(lines)
  }

  /** The peer is done: what stands without a newline is its last line. */
  end(): number {
    this.#chunk = NO_BYTES
    this.#isSeen = false
    return this.#writeAll(this.#parts.end())
  }

  #writeAll(lines: readonly LineOfParts[]): number {
    const { now, writer, keeps } = this.#options
    const time = now()
    this.#look()
    let kept = 0
    for (const line of lines) {
      const isSuspect = this.#suspicion?.isSuspect(line) === true
      if (keeps !== undefined && !keeps(bytesOf(line).toString('utf8'))) continue
      this.#writeLine(line, time, isSuspect)
      kept++
    }
    this.#suspicion?.leave(this.#chunk)
    this.#chunk = NO_BYTES
    writer().flush()
    return kept
  }

  /** Looks at the chunk once, when it is first asked about; says whether it must be looked at closely. */
  #look(): boolean {
    if (!this.#isSeen) this.#isChunkSuspect = this.#suspicion?.look(this.#chunk) === true
    this.#isSeen = true
    return this.#isChunkSuspect
  }

  #writeLine(line: LineOfParts, time: number, isSuspect: boolean): void {
    if (!this.#isMessage(line)) this.#writeRaw(line, time)
    else if (isSuspect) this.#writeRedacted(line, time)
    else this.#writeMessage(line, time)
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
    this.#writeBytes(line.parts, line, time)
    this.#options.onMessage?.(bytesOf(line).toString('utf8'))
  }

  #writeRedacted(line: LineOfParts, time: number): void {
    const text = bytesOf(line).toString('utf8')
    const chunk = Buffer.from(this.#options.redactor?.json(text) ?? text)
    this.#writeBytes(NO_PARTS, { chunk, start: 0, end: chunk.length, bytes: chunk.length }, time)
    this.#options.onMessage?.(text)
  }

  #writeBytes(parts: LineOfParts['parts'], last: Omit<LineOfParts, 'parts'>, time: number): void {
    const writer = this.#options.writer()
    writer.frame(time, this.#place, parts, last.chunk, last.start, last.end)
    const end = writer.position - FRAME_END
    if (last.bytes > CHECK_AT_ONCE) this.#options.onUnchecked({ start: end - last.bytes, end })
  }

  #writeRaw(line: LineOfParts, time: number): void {
    const payload = this.#rawPayload(line)
    if (payload !== undefined)
      this.#options.writer().rareFrame(`,"t":${milliseconds(time)}${this.#options.place},${payload}`)
  }

  /** Secrets go before anything is cut off: half of one cannot be told. */
  #rawPayload(line: LineOfParts): string | undefined {
    const { maxLineBytes, redactor } = this.#options
    const bytes = bytesOf(line)
    if (line.bytes > maxLineBytes)
      return rawPayload(
        redactedHead(bytes, RAW_HEAD, redactor),
        `a line of ${line.bytes} bytes; at most ${maxLineBytes} are kept`,
      )
    const redacted = this.#redactedLine(bytes)
    return (
      (line.bytes > this.#longest ? cutPayload(redacted, this.#longest) : undefined) ?? rawPayload(redacted)
    )
  }

  #redactedLine(bytes: Buffer): Buffer {
    const { redactor } = this.#options
    if (redactor === undefined) return bytes
    return redactedBytes(bytes, { text: (line) => this.#keyBlock.redacted(line, redactor) })
  }
}

const NOTHING: readonly LineOfParts[] = []
const NO_BYTES = new Uint8Array(0)
const NO_PARTS: readonly Uint8Array[] = []
const LONG = 128 * 1024
/** To look for secrets takes longer than to write. */
const LONG_TO_LOOK_AT = 4 * 1024
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
