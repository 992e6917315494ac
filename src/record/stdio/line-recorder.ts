import { type Line, LineSplitter } from '../../protocol/lines.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { PrivateKeyLines } from '../../redact/rules/private-key.ts'
import { type FramePlace, framePlace, FrameWriter, textOf } from '../frame-writer.ts'
import type { TapeLog } from '../tape-log.ts'

interface LineRecorderOptions {
  readonly log: TapeLog
  /** The envelope between the time and the payload: `,"server":…,"dir":…`, in ASCII. */
  readonly place: string
  readonly maxLineBytes: number
  /** Only this much is recorded of a longer message. */
  readonly cutBytes?: number | undefined
  readonly onMessage?: (text: string) => void
  /** Which lines are recorded. It is set only if the user asked for a choice, because parsing lines takes time. */
  readonly keeps?: (text: string) => boolean
}

/** Records the lines of one direction of a link, with their bytes unchanged. */
export class LineRecorder {
  readonly #options: LineRecorderOptions
  readonly #place: FramePlace
  readonly #splitter: LineSplitter
  readonly #frames: FrameWriter
  readonly #secrets: ChunkPrefilter | undefined
  readonly #longBytes: number
  readonly #keyLines = new PrivateKeyLines()

  constructor(options: LineRecorderOptions) {
    const { log, maxLineBytes, cutBytes } = options
    this.#options = options
    this.#place = framePlace(options.place)
    this.#splitter = new LineSplitter({ maxBytes: maxLineBytes })
    this.#frames = new FrameWriter(log, { unit: 'line', maxBytes: maxLineBytes, cutBytes })
    this.#secrets = log.redactor && new ChunkPrefilter(log.redactor)
    this.#longBytes = this.#secrets === undefined ? LONG_BYTES : LONG_TO_SCAN_BYTES
  }

  /**
   * Records the lines that a chunk completes, and hands the chunk on in the same tick. The tape is written first, so that
   * it contains what a peer has seen even if the recorder is killed. A chunk that takes longer to record than to hand on is
   * handed on first: one with long or many lines, or with a possible secret.
   */
  pass(chunk: Uint8Array, handOn: () => void): void {
    const isLong = this.#splitter.pendingBytes + chunk.length > this.#longBytes
    const lines = this.#splitter.split(chunk)
    const isSlow = isLong || lines.length === 0 || lines.length > FEW_LINES || this.#mayContainSecrets(chunk)
    if (isSlow) handOn()
    this.#write(lines, chunk)
    if (!isSlow) handOn()
  }

  /** The peer is done: what follows the last newline is its last line. */
  end(): void {
    this.#write(this.#splitter.end(), NO_BYTES)
  }

  #mayContainSecrets(chunk: Uint8Array): boolean {
    return this.#secrets?.scan(chunk) === true
  }

  #write(lines: readonly Line[], chunk: Uint8Array): void {
    const { log } = this.#options
    log.guard(() => {
      const time = log.now()
      this.#mayContainSecrets(chunk)
      let written = 0
      for (const line of lines) if (this.#writeLine(line, time)) written++
      this.#secrets?.finishChunk(chunk)
      log.flush()
      log.countMessages(written)
    })
  }

  #writeLine(line: Line, time: number): boolean {
    const { keeps, onMessage } = this.#options
    const mayContainSecrets = this.#secrets?.mayContainSecrets(line) === true
    if (keeps !== undefined && !keeps(textOf(line))) return false
    if (!this.#frames.message(time, this.#place, line, mayContainSecrets))
      return this.#frames.raw(time, this.#place, line, { redactText: this.#redactText() })
    onMessage?.(textOf(line))
    return true
  }

  /** A private key may be spread over several lines, of which only the first and the last are recognizable. */
  #redactText(): ((text: string) => string) | undefined {
    const { redactor } = this.#options.log
    if (redactor === undefined) return undefined
    return (text) => (this.#keyLines.isKeyLine(text) ? redactor.secret(text) : redactor.text(text))
  }
}

const NO_BYTES = new Uint8Array(0)
const LONG_BYTES = 128 * 1024
/** Searching for secrets takes longer than writing. */
const LONG_TO_SCAN_BYTES = 4 * 1024
const FEW_LINES = 4

/**
 * Finds the lines of one direction that may contain a secret. Every byte is scanned once, when it arrives. The bytes on both
 * sides of a cut between two chunks are scanned once more, together.
 */
class ChunkPrefilter {
  readonly #redactor: Redactor
  /** The end of the chunks before this one, if their last line continues in it. */
  #carriedOver: Uint8Array = NO_BYTES
  #isCarriedOverSuspect = false
  #scanned: Uint8Array | undefined
  #isChunkSuspect = false
  #isFirstLine = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Scans a chunk, if it is not scanned yet. Returns whether one of its lines may contain a secret. */
  scan(chunk: Uint8Array): boolean {
    if (chunk !== this.#scanned) this.#scanNext(chunk)
    return this.#isChunkSuspect || this.#isCarriedOverSuspect
  }

  #scanNext(chunk: Uint8Array): void {
    this.#scanned = chunk
    this.#isChunkSuspect = this.#redactor.mayContainSecrets(chunk)
    if (!this.#isCarriedOverSuspect && this.#carriedOver.length > 0)
      this.#isCarriedOverSuspect = this.#isSuspectAcrossCut(chunk)
    this.#isFirstLine = true
  }

  /** Has to be called for each line that the chunk completes, in order. */
  mayContainSecrets({ chunk, start, end }: Line): boolean {
    const isFirstLine = this.#isFirstLine
    this.#isFirstLine = false
    if (isFirstLine && this.#isCarriedOverSuspect) return true
    return this.#isChunkSuspect && this.#redactor.mayContainSecrets(chunk, start, end)
  }

  /** Remembers what follows the last line of the chunk. */
  finishChunk(chunk: Uint8Array): void {
    const rest = chunk.subarray(chunk.lastIndexOf(NEWLINE) + 1)
    const isWhole = rest.length === chunk.length
    const isRestSuspect = this.#isChunkSuspect && this.#redactor.mayContainSecrets(rest)
    this.#isCarriedOverSuspect = (isWhole && this.#isCarriedOverSuspect) || isRestSuspect
    this.#carriedOver =
      isWhole && rest.length < SEAM_BYTES
        ? Buffer.concat([this.#carriedOver, rest])
        : rest.subarray(-SEAM_BYTES)
    this.#scanned = undefined
  }

  #isSuspectAcrossCut(chunk: Uint8Array): boolean {
    const seam = Buffer.concat([this.#carriedOver, chunk.subarray(0, SEAM_BYTES)])
    return this.#redactor.mayContainSecrets(seam)
  }
}

const NEWLINE = 10
/** No pattern needs more bytes on either side of a cut. */
const SEAM_BYTES = 512
