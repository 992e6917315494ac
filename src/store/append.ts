import { closeSync, ftruncateSync } from 'node:fs'
import { Counter, writeFrameStart } from './digits.ts'
import { SlowLane } from './slow-lane.ts'
import { writeAll, writeWhole } from './write-whole.ts'

/** Why a tape stopped growing, and how much it missed. */
export interface Loss {
  readonly why: string
  readonly frames: number
}

/**
 * Appends whole lines to a tape. Lines are gathered and handed to the kernel with one call at `flush`, so that
 * nothing is lost when the process is killed; very long ones in slices, right after it.
 * A failing disk never throws: the tape ends at its last whole line, and `loss` says so.
 */
export class TapeWriter {
  readonly path: string
  #fd: number
  #length = 0
  #batch: Buffer = Buffer.allocUnsafeSlow(BATCH_BYTES)
  #used = 0
  #marked = 0
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #pendingFrames = 0
  readonly #counter = new Counter()
  readonly #lane = new SlowLane({
    write: (pieces) => writeAll(this.#fd, pieces),
    onWritten: ({ bytes }) => void (this.#length += bytes),
    onFailed: (batches, error) => {
      this.#fail(error)
      this.#lostFrames += batches.reduce((sum, { frames }) => sum + frames, 0)
    },
  })
  #lostFrames = 0
  #failure: string | undefined

  constructor(path: string, fd: number) {
    this.path = path
    this.#fd = fd
  }

  /** Frames so far, lost ones included. */
  get frames(): number {
    return this.#counter.value
  }

  get loss(): Loss | undefined {
    return this.#failure === undefined ? undefined : { why: this.#failure, frames: this.#lostFrames }
  }

  /** How much of the tape the kernel has. */
  get length(): number {
    return this.#length
  }

  /** Where the next line will begin in the file. */
  get position(): number {
    return this.#length + this.#lane.bytes + this.#pieceBytes + this.#used - this.#marked
  }

  /** Adds a frame with a message in it: `{"n":…,"t":…`, the rest of its envelope, the message in pieces, and the closing brace. */
  frame(
    t: number,
    place: Uint8Array,
    message: readonly Uint8Array[],
    last: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (this.#used + place.length + FRAME_EXTRA > BATCH_BYTES) this.#spill()
    this.#pendingFrames++
    this.#counter.next()
    this.#used = writeFrameStart(this.#batch, this.#used, this.#counter.digits, t)
    this.#copy(place)
    for (const piece of message) this.#bytes(piece)
    if (end > start) this.#bytes(last.subarray(start, end))
    if (this.#used + FRAME_EXTRA > BATCH_BYTES) this.#spill()
    this.#batch[this.#used++] = CLOSE_BRACE
    this.#batch[this.#used++] = NEWLINE
  }

  /** Adds a frame that is written rarely: `rest` is all that follows its number. */
  rareFrame(rest: string): void {
    this.#pendingFrames++
    this.#counter.next()
    this.line(`{"n":${this.#counter.value}${rest}}`)
  }

  /** Adds a whole line. */
  line(text: string): void {
    const most = text.length * UTF8_PER_UNIT + 1
    if (most > COPY_BYTES) return this.#bytes(Buffer.from(`${text}\n`))
    if (this.#used + most > BATCH_BYTES) this.#spill()
    this.#used += this.#batch.write(text, this.#used)
    this.#batch[this.#used++] = NEWLINE
  }

  /** Hands everything gathered to the kernel: at once, unless it is long, or something long is still on its way. */
  flush(): void {
    if (this.#pieces.length > 0 && this.#used > this.#marked) this.#mark()
    if (this.#used === 0 && this.#pieces.length === 0) return
    if (this.#failure !== undefined) this.#lostFrames += this.#pendingFrames
    else if (this.#lane.bytes > 0 || this.#pieceBytes > LONG_BYTES) this.#writeLater()
    else this.#write()
    if (this.#pieces.length > 0) this.#pieces = []
    this.#pieceBytes = this.#pendingFrames = this.#used = this.#marked = 0
  }

  /** Lets the next flush try to write, although an earlier one failed. */
  tryAgain(): void {
    this.#failure = undefined
  }

  /** Flushes and closes; may be called twice. */
  close(): void {
    this.flush()
    this.#lane.drain()
    if (this.#fd < 0) return
    closeSync(this.#fd)
    this.#fd = -1
  }

  /** Small pieces are copied, large ones kept by reference until `flush`. */
  #bytes(piece: Uint8Array): void {
    if (piece.length > COPY_BYTES) return this.#keep(piece)
    if (this.#used + piece.length > BATCH_BYTES) this.#spill()
    this.#copy(piece)
  }

  #copy(bytes: Uint8Array): void {
    this.#batch.set(bytes, this.#used)
    this.#used += bytes.length
  }

  #keep(piece: Uint8Array): void {
    if (this.#used > this.#marked) this.#mark()
    this.#pieces.push(piece)
    this.#pieceBytes += piece.length
  }

  #mark(): void {
    this.#pieces.push(this.#batch.subarray(this.#marked, this.#used))
    this.#pieceBytes += this.#used - this.#marked
    this.#marked = this.#used
  }

  /** The batch is full in the middle of a tick: what it holds stays referenced, and a new one takes over. */
  #spill(): void {
    if (this.#used > this.#marked) this.#mark()
    this.#batch = Buffer.allocUnsafeSlow(BATCH_BYTES)
    this.#used = this.#marked = 0
  }

  #write(): void {
    try {
      if (this.#pieces.length > 0) writeAll(this.#fd, this.#pieces)
      else writeWhole(this.#fd, this.#batch, this.#used)
      this.#length += this.#pieces.length > 0 ? this.#pieceBytes : this.#used
    } catch (error) {
      this.#fail(error)
      this.#lostFrames += this.#pendingFrames
    }
  }

  /** The batch is used again: what stands in it is copied. */
  #writeLater(): void {
    const pieces = this.#pieces.length > 0 ? this.#pieces : [this.#batch.subarray(0, this.#used)]
    const own = pieces.map((piece) => (piece.buffer === this.#batch.buffer ? Buffer.from(piece) : piece))
    const bytes = this.#pieces.length > 0 ? this.#pieceBytes : this.#used
    this.#lane.add({ pieces: own, bytes, frames: this.#pendingFrames })
  }

  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error.message : String(error)
    this.#cutBack()
  }

  /** A write that failed half-way leaves half a line: the tape is cut back to its last whole one. */
  #cutBack(): void {
    try {
      ftruncateSync(this.#fd, this.#length)
    } catch {
      // Then the tail stays torn, which every reader reports and drops.
    }
  }
}

const BATCH_BYTES = 256 * 1024
const COPY_BYTES = 8 * 1024
/** More than this holds the link up for longer than a message takes. */
const LONG_BYTES = 256 * 1024
const UTF8_PER_UNIT = 3 // bytes at most, for each unit of a text
const FRAME_EXTRA = 64 // the number, the time, their keys and the closing brace
const CLOSE_BRACE = 125
const NEWLINE = 10
