import { closeSync, ftruncateSync, writeSync, writevSync } from 'node:fs'
import { Counter } from './counter.ts'

/** Why a tape stopped growing, and how much it missed. */
export interface Loss {
  readonly why: string
  readonly frames: number
}

/**
 * Appends whole lines to a tape. Lines are gathered and handed to the kernel with one call at `flush`, so that
 * nothing is lost when the process is killed, and a line is never split over two appends.
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
    return this.#length + this.#pieceBytes + this.#used - this.#marked
  }

  /** Adds a frame: `{"n":…`, the rest of its envelope, its payload in one or more pieces, and the closing brace. */
  frame(
    envelope: Uint8Array,
    payload: readonly Uint8Array[],
    last: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (this.#used + envelope.length + FRAME_EXTRA > BATCH_BYTES) this.#spill()
    this.#ascii('{"n":')
    this.#count()
    this.#batch.set(this.#counter.digits, this.#used)
    this.#used += this.#counter.digits.length
    this.#batch.set(envelope, this.#used)
    this.#used += envelope.length
    for (const piece of payload) this.#bytes(piece)
    if (end > start) this.#bytes(last.subarray(start, end))
    if (this.#used + FRAME_EXTRA > BATCH_BYTES) this.#spill()
    this.#ascii('}\n')
  }

  /** Adds a frame that is written rarely: `rest` is all that follows its number. */
  rareFrame(rest: string): void {
    this.#count()
    this.line(`{"n":${this.#counter.value}${rest}}`)
  }

  /** Adds a whole line. */
  line(text: string): void {
    this.#bytes(Buffer.from(`${text}\n`))
  }

  /** Hands everything gathered to the kernel. */
  flush(): void {
    if (this.#used > this.#marked) this.#mark()
    const [only] = this.#pieces
    if (only === undefined) return
    if (this.#failure === undefined) this.#write(this.#pieces.length === 1 ? only : undefined)
    if (this.#failure !== undefined) this.#lostFrames += this.#pendingFrames
    this.#pieces = []
    this.#pieceBytes = this.#pendingFrames = this.#used = this.#marked = 0
  }

  /** Flushes and closes; may be called twice. */
  close(): void {
    this.flush()
    if (this.#fd < 0) return
    closeSync(this.#fd)
    this.#fd = -1
  }

  #count(): void {
    this.#pendingFrames++
    this.#counter.next()
  }

  /** Small pieces are copied, large ones kept by reference until `flush`. */
  #bytes(piece: Uint8Array): void {
    if (piece.length > COPY_BYTES) return this.#keep(piece)
    if (this.#used + piece.length > BATCH_BYTES) this.#spill()
    this.#batch.set(piece, this.#used)
    this.#used += piece.length
  }

  #ascii(text: string): void {
    for (let index = 0; index < text.length; index++) this.#batch[this.#used++] = text.charCodeAt(index)
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

  #write(only: Uint8Array | undefined): void {
    try {
      if (only === undefined) writeAll(this.#fd, this.#pieces)
      else writeWhole(this.#fd, only)
      this.#length += this.#pieceBytes
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
      this.#dropTornLine()
    }
  }

  /** A write that failed half-way leaves half a line: the tape is cut back to its last whole one. */
  #dropTornLine(): void {
    try {
      ftruncateSync(this.#fd, this.#length)
    } catch {
      // Then the tail stays torn, which every reader reports and drops.
    }
  }
}

const BATCH_BYTES = 256 * 1024
const COPY_BYTES = 8 * 1024
const FRAME_EXTRA = 32 // the number, its key and the closing brace
const PIECES_A_CALL = 1000 // the kernel takes 1024

function writeAll(fd: number, pieces: readonly Uint8Array[]): void {
  for (let start = 0; start < pieces.length; start += PIECES_A_CALL) {
    const some = pieces.slice(start, start + PIECES_A_CALL)
    const wanted = some.reduce((sum, piece) => sum + piece.length, 0)
    const written = writevSync(fd, some)
    // A short write is how a disk that is nearly full answers: the rest then fails with the real error.
    if (written < wanted) writeWhole(fd, Buffer.concat(some).subarray(written))
  }
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}
