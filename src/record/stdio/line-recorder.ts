import { isAscii, isUtf8 } from 'node:buffer'
import { JsonValidator } from '../../json/validator.ts'
import { truncatedPayload, redactBytes, redactPrefix } from '../frame-payloads.ts'
import { ChunkPrefilter } from './chunk-prefilter.ts'
import { SegmentedLineSplitter, type SegmentedLine } from './segmented-lines.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { PrivateKeyLines } from '../../redact/rules/private-key.ts'
import type { PayloadRange } from '../../store/file/validate-long-messages.ts'
import { type TapeWriter, rawPayload } from '../../store/file/write.ts'
import { roundTime } from '../../tape/frame.ts'

interface LineRecorderOptions {
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
export class LineRecorder {
  readonly #options: LineRecorderOptions
  readonly #place: Uint8Array
  readonly #check = new JsonValidator()
  readonly #splitter: SegmentedLineSplitter
  readonly #prefilter: ChunkPrefilter | undefined
  readonly #keyBlock = new PrivateKeyRedactor()
  readonly #longest: number
  #accepted: readonly SegmentedLine[] = NO_LINES
  #chunk: Uint8Array = NO_BYTES
  #isScanned = false
  #isChunkSuspect = false
  #isAscii: boolean | undefined

  constructor(options: LineRecorderOptions) {
    this.#options = options
    this.#place = Buffer.from(`${options.place},"msg":`, 'latin1')
    this.#splitter = new SegmentedLineSplitter(options.maxLineBytes)
    this.#prefilter = options.redactor && new ChunkPrefilter(options.redactor)
    this.#longest = Math.min(options.maxLineBytes, options.cutBytes ?? Infinity)
  }

  /** Takes the lines that this chunk ends; says whether taping them takes longer than handing the chunk on: they are long or many, or one may hold a secret. */
  accept(chunk: Uint8Array): boolean {
    const isLong =
      this.#splitter.bytes + chunk.length > (this.#prefilter === undefined ? LONG_BYTES : LONG_TO_SCAN_BYTES)
    this.#isAscii = undefined
    this.#chunk = chunk
    this.#isScanned = false
    this.#accepted = this.#splitter.split(chunk)
    return isLong || this.#accepted.length === 0 || this.#accepted.length > FEW_LINES || this.#scan()
  }

  /** Writes what was taken, and returns how many lines it was. */
  write(): number {
    const lines = this.#accepted
    this.#accepted = NO_LINES // a long line must not be kept in memory until the next one
    return this.#writeAll(lines)
  }

  /** The peer is done: what stands without a newline is its last line. */
  end(): number {
    this.#chunk = NO_BYTES
    this.#isScanned = false
    return this.#writeAll(this.#splitter.end())
  }

  #writeAll(lines: readonly SegmentedLine[]): number {
    const { now, writer, keeps } = this.#options
    const time = now()
    this.#scan()
    let kept = 0
    for (const line of lines) {
      const isSuspect = this.#prefilter?.mayContainSecret(line) === true
      if (keeps !== undefined && !keeps(lineBytes(line).toString('utf8'))) continue
      this.#writeLine(line, time, isSuspect)
      kept++
    }
    this.#prefilter?.finishChunk(this.#chunk)
    this.#chunk = NO_BYTES
    writer().flush()
    return kept
  }

  /** Looks at the chunk once, when it is first asked about; says whether it must be looked at closely. */
  #scan(): boolean {
    if (!this.#isScanned) this.#isChunkSuspect = this.#prefilter?.scan(this.#chunk) === true
    this.#isScanned = true
    return this.#isChunkSuspect
  }

  #writeLine(line: SegmentedLine, time: number, isSuspect: boolean): void {
    if (!this.#isMessage(line)) this.#writeRaw(line, time)
    else if (isSuspect) this.#writeRedacted(line, time)
    else this.#writeMessage(line, time)
  }

  #isMessage(line: SegmentedLine): boolean {
    const { parts, chunk, start, end, bytes } = line
    if (bytes > this.#longest) return false
    if (bytes > MAX_CHECKED_BYTES && looksLikeJson(line)) return true
    this.#check.reset()
    for (const part of parts) this.#check.feed(part, 0, part.length)
    this.#check.feed(chunk, start, end)
    return this.#check.isComplete() && this.#isText(line)
  }

  /** One look at a whole chunk usually speaks for all of its lines. */
  #isText(line: SegmentedLine): boolean {
    if (line.parts.length > 0) return isUtf8(lineBytes(line))
    this.#isAscii ??= isAscii(line.chunk)
    return this.#isAscii || isUtf8(line.chunk.subarray(line.start, line.end))
  }

  #writeMessage(line: SegmentedLine, time: number): void {
    this.#writeBytes(line.parts, line, time)
    this.#options.onMessage?.(lineBytes(line).toString('utf8'))
  }

  #writeRedacted(line: SegmentedLine, time: number): void {
    const text = lineBytes(line).toString('utf8')
    const chunk = Buffer.from(this.#options.redactor?.json(text) ?? text)
    this.#writeBytes(NO_PARTS, { chunk, start: 0, end: chunk.length, bytes: chunk.length }, time)
    this.#options.onMessage?.(text)
  }

  #writeBytes(parts: SegmentedLine['parts'], last: Omit<SegmentedLine, 'parts'>, time: number): void {
    const writer = this.#options.writer()
    writer.frame(time, this.#place, parts, last.chunk, last.start, last.end)
    const end = writer.position - FRAME_END
    if (last.bytes > MAX_CHECKED_BYTES) this.#options.onUnchecked({ start: end - last.bytes, end })
  }

  #writeRaw(line: SegmentedLine, time: number): void {
    const payload = this.#rawPayload(line)
    if (payload !== undefined)
      this.#options.writer().rareFrame(`,"t":${roundTime(time)}${this.#options.place},${payload}`)
  }

  /** Secrets go before anything is cut off: half of one cannot be told. */
  #rawPayload(line: SegmentedLine): string | undefined {
    const { maxLineBytes, redactor } = this.#options
    const bytes = lineBytes(line)
    if (line.bytes > maxLineBytes)
      return rawPayload(
        redactPrefix(bytes, RAW_HEAD_BYTES, redactor),
        `a line of ${line.bytes} bytes; at most ${maxLineBytes} are kept`,
      )
    const redacted = this.#redactedLine(bytes)
    return (
      (line.bytes > this.#longest ? truncatedPayload(redacted, this.#longest) : undefined) ??
      rawPayload(redacted)
    )
  }

  #redactedLine(bytes: Buffer): Buffer {
    const { redactor } = this.#options
    if (redactor === undefined) return bytes
    return redactBytes(bytes, { text: (line) => this.#keyBlock.redact(line, redactor) })
  }
}

const NO_LINES: readonly SegmentedLine[] = []
const NO_BYTES = new Uint8Array(0)
const NO_PARTS: readonly Uint8Array[] = []
const LONG_BYTES = 128 * 1024
/** To look for secrets takes longer than to write. */
const LONG_TO_SCAN_BYTES = 4 * 1024
const FEW_LINES = 4
/** Longer lines get the exact check when the session is over: it would cost the link more than the whole relay. */
const MAX_CHECKED_BYTES = 8 * 1024
/** How much of a line that is too long for the tape is kept of it. */
const RAW_HEAD_BYTES = 4096
const FRAME_END = '}\n'.length
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')

function looksLikeJson({ parts, chunk, start, end }: SegmentedLine): boolean {
  const first = parts[0]?.[0] ?? chunk[start]
  const last = end > start ? chunk[end - 1] : parts.at(-1)?.at(-1)
  return (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET)
}

function lineBytes({ parts, chunk, start, end }: SegmentedLine): Buffer {
  return Buffer.concat([...parts, chunk.subarray(start, end)])
}

/** Redacts lines one by one, and a private key among them as well. */
class PrivateKeyRedactor {
  readonly #lines = new PrivateKeyLines()

  redact(line: string, redactor: Redactor): string {
    return this.#lines.isKeyLine(line) ? redactor.secret(line) : redactor.text(line)
  }
}
