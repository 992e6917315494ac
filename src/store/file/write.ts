import { isUtf8 } from 'node:buffer'
import {
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  closeSync,
  ftruncateSync,
  writeFileSync,
  writeSync,
  writevSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorMessage, ReelayError, systemErrorCode } from '../../errors.ts'

/**
 * Creates a tape file that only its owner can read, in a folder that only its owner can open. An existing file is never
 * overwritten: if the path exists, `-2`, `-3`, … is added to the name, also for recorders that start at the same time.
 */
export function createTape(path: string): TapeWriter {
  const wanted = resolve(path)
  const fd = openInFolder(wanted)
  return fd === undefined ? createCopy(wanted) : new TapeWriter(wanted, fd)
}

/**
 * Opens a finished tape again, without its end frame, to write further frames. Returns `undefined` if another recorder does
 * the same. `isStillSame` is asked when no other recorder can open it any more.
 */
export function reopenTape(
  path: string,
  { header, frames, end }: { readonly header: string; readonly frames: number; readonly end: number },
  isStillSame: () => boolean,
): TapeWriter | undefined {
  const lock = `${path}.lock`
  const locked = openNew(lock)
  if (locked === undefined) return undefined
  try {
    if (!isStillSame()) return undefined
    const fd = openSync(path, 'a')
    ftruncateSync(fd, end)
    return new TapeWriter(path, fd, { header, frames, length: end })
  } finally {
    closeSync(locked)
    rmSync(lock, { force: true })
  }
}

/** Refuses to write to a tape that exists, by a command without `--overwrite`. */
export function requireNewFile(path: string): void {
  rejectFolder(path)
  if (existsSync(path))
    throw new ReelayError('USAGE', `${path} exists`, {
      hint: 'choose another file, or remove that one first',
    })
}

function rejectFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory())
    throw new ReelayError('USAGE', `${path} is a folder`, {
      hint: `give the path of a file in it, such as ${join(path, 'my.tape.jsonl')}`,
    })
}

/** Refuses to record to a tape that exists. With `overwrite` it may exist, but it has to be a tape. */
export function requireNewTape(path: string, overwrite = false): void {
  rejectFolder(path)
  if (!isFile(path) || (!overwrite && isProbe(path))) return
  if (!overwrite)
    throw new ReelayError('USAGE', `the tape ${path} exists`, {
      hint: 'to replace it, use --overwrite; to keep it, choose another name',
    })
  if (!isTapeFile(path))
    throw new ReelayError('USAGE', `${path} is not a tape, so it is not overwritten`, {
      hint: 'choose another file',
    })
}

/**
 * Returns true for a tape whose client only asked what the server supports. Clients that negotiate the revision start the server
 * once for that question and then again, with the same command, for the session.
 */
function isProbe(path: string): boolean {
  const requests = readStart(path, PROBE_BYTES)
    .split('\n')
    .filter((line) => line.includes('"dir":"c2s"') && line.includes('"method":'))
  return requests.length > 0 && requests.every((line) => line.includes('"method":"server/discover"'))
}

const PROBE_BYTES = 64 * 1024

/** Removes a tape, and those that were recorded under the same name with a number. Files that are not tapes stay. */
export function removeTapes(path: string): void {
  if (isFile(path) && isProbe(path)) return // the session of this client goes on there
  const last = lastTapeNumber(path)
  const copies = Array.from({ length: Math.max(0, last - 1) }, (_, copy) => numberedPath(path, copy + 2))
  for (const each of [path, ...copies]) if (isTapeFile(each)) rmSync(each, { force: true })
}

/** Returns true for a file that a recorder wrote, and for an empty one. */
function isTapeFile(path: string): boolean {
  return isFile(path) && TAPE_START.startsWith(readStart(path, TAPE_START.length))
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

function readStart(path: string, bytes: number): string {
  const fd = openSync(path, 'r')
  try {
    const head = Buffer.alloc(bytes)
    return head.toString('utf8', 0, readSync(fd, head))
  } finally {
    closeSync(fd)
  }
}

const TAPE_START = '{"reelay":'

function openInFolder(path: string): number | undefined {
  try {
    return openNew(path)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
    makeFolder(dirname(path))
    return openNew(path)
  }
}

/**
 * Creates a folder that only its owner can open, and those above it. Every folder of Reelay is created here. `recursive` of
 * Node is not used: in a folder that allows no new files, such as /proc, it would retry forever and ignore signals.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error
  }
}

/**
 * Writes a file that only its owner can read, in one step: readers see the old content or the new one. A link in its place is
 * replaced, and its target is not touched.
 */
export function writePrivateFile(path: string, text: string): void {
  makeFolder(dirname(path))
  const draft = `${path}.${process.pid}.new`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Reads the next number from the folder, because there may be many tapes of the same name. */
function createCopy(wanted: string): TapeWriter {
  const there = lstatSync(wanted)
  if (there.isDirectory()) throw new Error(`${wanted} is a folder`)
  if (!there.isFile() && !there.isSymbolicLink()) throw new Error(`${wanted} is not a regular file`)
  for (let copy = lastCopyNumber(wanted) + 1; ; copy++) {
    const candidate = numberedPath(wanted, copy)
    const fd = openNew(candidate)
    if (fd !== undefined) return new TapeWriter(candidate, fd)
  }
}

function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'ax', 0o600)
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error
    return undefined
  }
}

function lastCopyNumber(wanted: string): number {
  const name = basename(wanted)
  const ending = tapeExtensionOf(name)
  const stem = `${name.slice(0, name.length - ending.length)}-`
  const copies = readdirSync(dirname(wanted))
    .filter((other) => other.startsWith(stem) && other.endsWith(ending))
    .map((other) => Number(other.slice(stem.length, other.length - ending.length)))
  return Math.max(1, ...copies.filter((copy) => Number.isInteger(copy)))
}

/** The number of the last tape with this name; 0 if there is none. */
export function lastTapeNumber(path: string): number {
  return existsSync(path) ? lastCopyNumber(path) : 0
}

/** The path of a further tape with the same name. */
export function numberedPath(path: string, copy: number): string {
  const ending = tapeExtensionOf(path)
  return `${path.slice(0, path.length - ending.length)}-${copy}${ending}`
}

function tapeExtensionOf(path: string): string {
  return /(\.tape)?\.jsonl$/.exec(path)?.[0] ?? ''
}

/** Why a tape is incomplete, and the number of lost frames. */
export interface TapeLoss {
  readonly why: string
  readonly frames: number
}

/** What another program has done to a tape that is being written. */
export interface FileTrouble {
  readonly kind: 'deleted' | 'moved' | 'truncated'
  readonly why: string
}

/** What a file contains when it is opened. */
interface WrittenTape {
  readonly header: string
  readonly frames: number
  readonly length: number
}

const NOTHING_WRITTEN: WrittenTape = { header: '', frames: 0, length: 0 }

/**
 * Appends whole lines to a tape. `flush` passes the collected lines to the kernel with one call, so that nothing is lost if the
 * process is killed, and no line is split over two writes. A disk error does not throw: the tape then ends with its last whole
 * line, and `loss` reports it.
 */
export class TapeWriter {
  readonly path: string
  #fd: number
  #header = ''
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

  /** `written` is what the file contains already. */
  constructor(path: string, fd: number, written: WrittenTape = NOTHING_WRITTEN) {
    this.path = path
    this.#fd = fd
    this.#length = written.length
    this.#header = written.header
    while (this.#counter.value < written.frames) this.#counter.next()
  }

  /** Number of frames, including lost ones. */
  get frames(): number {
    return this.#counter.value
  }

  get loss(): TapeLoss | undefined {
    return this.#failure === undefined ? undefined : { why: this.#failure, frames: this.#lostFrames }
  }

  /** Number of bytes that were passed to the kernel. */
  get length(): number {
    return this.#length
  }

  /** Offset of the next line in the file. */
  get position(): number {
    return this.#length + this.#pieceBytes + this.#used - this.#markedEnd
  }

  /** The first line of the file. */
  get header(): string {
    return this.#header
  }

  /** Writes the header. If that fails, no file is left behind, because a file without a header is not a tape. */
  start(header: string): void {
    this.#header = header
    this.line(header)
    this.flush()
    if (this.#failure === undefined) return
    this.close()
    rmSync(this.path, { force: true })
    throw new Error(this.#failure)
  }

  /**
   * Finds out whether another program has deleted, moved or truncated the file. Writing goes on without an error then. Returns
   * `undefined` if the file is as it was left.
   */
  checkFile(): FileTrouble | undefined {
    if (this.#fd < 0) return undefined
    const { nlink, ino, dev, size } = fstatSync(this.#fd)
    if (nlink === 0) return { kind: 'deleted', why: 'the file was deleted while it was recorded' }
    const there = statSync(this.path, { throwIfNoEntry: false })
    if (there?.ino !== ino || there.dev !== dev)
      return { kind: 'moved', why: `the file was moved while it was recorded${this.#whereItIs()}` }
    return size < this.#length
      ? { kind: 'truncated', why: 'the file was truncated while it was recorded' }
      : undefined
  }

  /** Linux knows the new name of a file that was moved. */
  #whereItIs(): string {
    try {
      return `, and is now ${readlinkSync(`/proc/self/fd/${this.#fd}`)}`
    } catch {
      return ''
    }
  }

  /** Adds a message frame: `{"n":…,"t":…`, the rest of its envelope, the pieces of the message, and the closing brace. */
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

  /** Adds any other frame: `rest` is everything after its number. */
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

  /** Passes the collected lines to the kernel. */
  flush(): void {
    if (this.#pieces.length > 0 && this.#used > this.#markedEnd) this.#mark()
    if (this.#used === 0 && this.#pieces.length === 0) return
    if (this.#failure === undefined) this.#write()
    if (this.#failure !== undefined) this.#lostFrames += this.#pendingFrames
    if (this.#pieces.length > 0) this.#pieces = []
    this.#pieceBytes = this.#pendingFrames = this.#used = this.#markedEnd = 0
  }

  /** Lets the next flush write again after a failure. */
  retryAfterFailure(): void {
    this.#failure = undefined
  }

  /** Flushes and closes the file. Closing it again does nothing. */
  close(): void {
    this.flush()
    if (this.#fd < 0) return
    closeSync(this.#fd)
    this.#fd = -1
  }

  /** Copies small pieces and keeps references to large ones until `flush`. */
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

  /** Starts a new batch if the current one is full before `flush`. */
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
      this.#failure = errorMessage(error)
      this.#cutBack()
    }
  }

  /** Truncates the file to its last whole line after a partial write. */
  #cutBack(): void {
    try {
      ftruncateSync(this.#fd, this.#length)
    } catch {
      // The last line stays truncated, which readers report and skip.
    }
  }
}

const BATCH_BYTES = 256 * 1024
const COPY_BYTES = 8 * 1024
const UTF8_PER_UNIT = 3 // maximum bytes per UTF-16 unit
const FRAME_EXTRA = 64 // the number, the time, their keys and the closing brace
const CLOSE_BRACE = 125
const NEWLINE = 10
const PIECES_PER_CALL = 1000 // the kernel takes 1024

function writePieces(fd: number, pieces: readonly Uint8Array[]): void {
  for (let start = 0; start < pieces.length; start += PIECES_PER_CALL) {
    const some = pieces.slice(start, start + PIECES_PER_CALL)
    const wanted = some.reduce((sum, piece) => sum + piece.length, 0)
    const written = writevSync(fd, some)
    // A nearly full disk writes less than requested. Writing the rest then fails with the actual error.
    if (written < wanted) writeWhole(fd, Buffer.concat(some).subarray(written), wanted - written)
  }
}

function writeWhole(fd: number, bytes: Uint8Array, length: number): void {
  for (let at = 0; at < length;) at += writeSync(fd, bytes, at, length - at)
}

/** A counter that keeps its ASCII digits: copying them is ten times as fast as formatting the number. */
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

/** Writes `{"n":…,"t":…` and returns the offset after it. The caller must have made room for it. */
function writeFrameStart(target: Uint8Array, start: number, digits: Uint8Array, time: number): number {
  let at = writeAscii(target, start, '{"n":')
  for (let place = 0; place < digits.length; place++) target[at++] = digits[place]!
  return writeMilliseconds(target, writeAscii(target, at, ',"t":'), time)
}

function writeAscii(target: Uint8Array, start: number, text: string): number {
  for (let index = 0; index < text.length; index++) target[start + index] = text.charCodeAt(index)
  return start + text.length
}

/** Writes a time with three decimals and returns the offset after it. The caller must have made room for it. */
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

/** The payload of a frame for bytes that are not a message. Returns `undefined` for a blank line. */
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
