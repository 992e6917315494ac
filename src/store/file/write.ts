import { isUtf8 } from 'node:buffer'
import { closeSync, ftruncateSync, writeSync, writevSync } from 'node:fs'

/** Why a tape stopped growing, and how much it missed. */
export interface TapeLoss {
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
  #markedEnd = 0
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #pendingFrames = 0
  readonly #counter = new DigitCounter()
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

  get loss(): TapeLoss | undefined {
    return this.#failure === undefined ? undefined : { why: this.#failure, frames: this.#lostFrames }
  }

  /** How much of the tape the kernel has. */
  get length(): number {
    return this.#length
  }

  /** Where the next line will begin in the file. */
  get position(): number {
    return this.#length + this.#pieceBytes + this.#used - this.#markedEnd
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

  /** Hands everything gathered to the kernel. */
  flush(): void {
    if (this.#pieces.length > 0 && this.#used > this.#markedEnd) this.#mark()
    if (this.#used === 0 && this.#pieces.length === 0) return
    if (this.#failure === undefined) this.#write()
    if (this.#failure !== undefined) this.#lostFrames += this.#pendingFrames
    if (this.#pieces.length > 0) this.#pieces = []
    this.#pieceBytes = this.#pendingFrames = this.#used = this.#markedEnd = 0
  }

  /** Lets the next flush try to write, although an earlier one failed. */
  retryAfterFailure(): void {
    this.#failure = undefined
  }

  /** Flushes and closes; may be called twice. */
  close(): void {
    this.flush()
    if (this.#fd < 0) return
    closeSync(this.#fd)
    this.#fd = -1
  }

  /** Small pieces are copied, large ones kept by reference until `flush`. */
  #bytes(piece: Uint8Array): void {
    if (piece.length > COPY_BYTES) return this.#keepByReference(piece)
    if (this.#used + piece.length > BATCH_BYTES) this.#spill()
    this.#copy(piece)
  }

  #copy(bytes: Uint8Array): void {
    this.#batch.set(bytes, this.#used)
    this.#used += bytes.length
  }

  #keepByReference(piece: Uint8Array): void {
    if (this.#used > this.#markedEnd) this.#mark()
    this.#pieces.push(piece)
    this.#pieceBytes += piece.length
  }

  #mark(): void {
    this.#pieces.push(this.#batch.subarray(this.#markedEnd, this.#used))
    this.#pieceBytes += this.#used - this.#markedEnd
    this.#markedEnd = this.#used
  }

  /** The batch is full in the middle of a tick: what it holds stays referenced, and a new one takes over. */
  #spill(): void {
    if (this.#used > this.#markedEnd) this.#mark()
    this.#batch = Buffer.allocUnsafeSlow(BATCH_BYTES)
    this.#used = this.#markedEnd = 0
  }

  #write(): void {
    try {
      if (this.#pieces.length > 0) writePieces(this.#fd, this.#pieces)
      else writeWhole(this.#fd, this.#batch, this.#used)
      this.#length += this.#pieces.length > 0 ? this.#pieceBytes : this.#used
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
      this.#cutBack()
    }
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
const UTF8_PER_UNIT = 3 // bytes at most, for each unit of a text
const FRAME_EXTRA = 64 // the number, the time, their keys and the closing brace
const CLOSE_BRACE = 125
const NEWLINE = 10
const PIECES_PER_CALL = 1000 // the kernel takes 1024

function writePieces(fd: number, pieces: readonly Uint8Array[]): void {
  for (let start = 0; start < pieces.length; start += PIECES_PER_CALL) {
    const some = pieces.slice(start, start + PIECES_PER_CALL)
    const wanted = some.reduce((sum, piece) => sum + piece.length, 0)
    const written = writevSync(fd, some)
    // A short write is how a disk that is nearly full answers: the rest then fails with the real error.
    if (written < wanted) writeWhole(fd, Buffer.concat(some).subarray(written), wanted - written)
  }
}

function writeWhole(fd: number, bytes: Uint8Array, length: number): void {
  for (let at = 0; at < length;) at += writeSync(fd, bytes, at, length - at)
}

/** A number that is also kept as its ASCII digits: writing it is then a copy, where making a text costs ten times as much. */
export class DigitCounter {
  #value = 0
  #digits: Uint8Array = Uint8Array.of(ZERO)

  get value(): number {
    return this.#value
  }

  get digits(): Uint8Array {
    return this.#digits
  }

  next(): void {
    this.#value++
    for (let place = this.#digits.length - 1; place >= 0; place--) {
      if (++this.#digits[place]! <= NINE) return
      this.#digits[place] = ZERO
    }
    this.#digits = Uint8Array.of(ONE, ...this.#digits)
  }
}

const ZERO = 48
const ONE = 49
const NINE = 57
const POINT = 46

/** Writes `{"n":…,"t":…` and returns where it ends; the caller has made room for it. */
function writeFrameStart(target: Uint8Array, start: number, digits: Uint8Array, time: number): number {
  let at = writeAscii(target, start, '{"n":')
  for (let place = 0; place < digits.length; place++) target[at++] = digits[place]!
  return writeMilliseconds(target, writeAscii(target, at, ',"t":'), time)
}

function writeAscii(target: Uint8Array, start: number, text: string): number {
  for (let index = 0; index < text.length; index++) target[start + index] = text.charCodeAt(index)
  return start + text.length
}

/** Writes a time with its three decimals, and returns where it ends; the caller has made room for it. */
export function writeMilliseconds(target: Uint8Array, start: number, time: number): number {
  const micros = Math.round(time * 1000)
  const whole = Math.floor(micros / 1000)
  const at = writeDigits(target, start, whole, digitCount(whole))
  target[at] = POINT
  return writeDigits(target, at + 1, micros - whole * 1000, 3)
}

function digitCount(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  return digits
}

function writeDigits(target: Uint8Array, start: number, value: number, digits: number): number {
  let rest = value
  for (let at = start + digits - 1; at >= start; at--) {
    const tenth = Math.floor(rest / 10)
    target[at] = ZERO + rest - tenth * 10
    rest = tenth
  }
  return start + digits
}

/** What stands on the tape for bytes that are no message; nothing for a blank line. */
export function rawPayload(bytes: Uint8Array, why?: string): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  if (text.trim() === '') return undefined
  const payload = `"raw":${JSON.stringify(text)},"why":${JSON.stringify(why ?? reasonNotMessage(bytes, text))}`
  return isUtf8(bytes) ? payload : `${payload},"base64":"${Buffer.from(bytes).toString('base64')}"`
}

function reasonNotMessage(bytes: Uint8Array, text: string): string {
  if (!isUtf8(bytes)) return 'not UTF-8'
  try {
    JSON.parse(text)
    return 'JSON, but no object or array'
  } catch {
    return 'not JSON'
  }
}
