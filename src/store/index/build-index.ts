import { isUtf8 } from 'node:buffer'
import { open, type FileHandle } from 'node:fs/promises'
import { parseJson } from '../../json/parse.ts'
import { isId, parseIdBytes, guessResponseId } from '../../protocol/id.ts'
import { classifyMessage, type Message } from '../../protocol/message.ts'
import { TapeLineChecks, type TapeReadState } from '../file/frame-reader.ts'
import { LONGEST_FRAME_BYTES } from '../file/read.ts'
import { tapeFingerprintOf, type TapeFingerprint, writeIndexFile, type OpenIndex } from './index-file.ts'
import { IndexRows } from './index-rows.ts'
import { RequestScanner, type RequestKeyHash } from './request-scanner.ts'
import { inMemoryIndex, type IndexData } from './tape-index.ts'
import { decodeFrame } from '../../tape/codec.ts'
import { LinePrefixScanner, type LinePrefix } from '../../tape/line-prefix.ts'
import { TapeConversations, messagesInFrame } from '../../tape/turn-builder.ts'
import type { RecordedMessage } from '../../tape/turn.ts'

/** Looks a tape through, and leaves its index beside it; none when a line of it is too long. */
export async function buildIndex(path: string, fingerprint: TapeFingerprint): Promise<OpenIndex | undefined> {
  const made = await scanTape(path)
  if (made === undefined) return undefined
  if (tapeFingerprintOf(path).modified === fingerprint.modified) await writeIndexFile(path, made, fingerprint)
  return { index: inMemoryIndex(made), close: () => {} }
}

async function scanTape(path: string): Promise<IndexData | undefined> {
  const builder = new IndexBuilder()
  const file = await open(path, 'r')
  try {
    const isWhole = await readFileLines(file, {
      onChunk: (bytes) => builder.startChunk(bytes),
      onLine: (line) => builder.add(line),
      onTruncated: (line) => builder.addTruncated(line),
      maxBytes: LONGEST_FRAME_BYTES,
    })
    return isWhole ? builder.finish() : undefined
  } finally {
    await file.close()
  }
}

/**
 * Looks a tape through line by line. The content of the client's requests is their key, so that is hashed; of an answer only the
 * id is looked for, and whoever takes the answer checks it. The turns are those that `TurnBuilder` makes of the same tape.
 */
class IndexBuilder {
  readonly #log = new IndexRows()
  readonly #conversations = new TapeConversations(this.#log)
  readonly #state: TapeReadState = { ended: false, problems: [] }
  readonly #checks = new TapeLineChecks(this.#state)
  readonly #envelopes = new LinePrefixScanner()
  readonly #calls = new RequestScanner()
  readonly #joined: string[] = []
  #isUtf8 = true

  /** The lines to come are in these bytes. */
  startChunk(bytes: Uint8Array): void {
    this.#isUtf8 = isUtf8(bytes)
  }

  add(line: FileLine): void {
    if (!this.#checks.acceptLine(line.number) || line.number === 1) return
    if (!this.#isUtf8 && !isUtf8(line.bytes.subarray(line.start, line.end)))
      return this.#checks.report(line.number, 'not UTF-8')
    this.#log.line = { at: line.at, length: line.end - line.start }
    const envelope = this.#envelopes.read(line.bytes, line.start)
    if (envelope === undefined || !this.#addScanned(line, envelope)) this.#addDecoded(line)
  }

  /** A line that the file ends in. */
  addTruncated(line: FileLine): void {
    this.#checks.markTruncated()
    this.#checks.acceptLine(line.number)
  }

  finish(): IndexData {
    const { ended, problems } = this.#state
    return this.#log.toIndexData({ ended, problems, joined: this.#joined })
  }

  /** Takes a line as the recorder writes them; false when it has to be looked at more closely. */
  #addScanned(line: FileLine, envelope: LinePrefix): boolean {
    if (line.bytes[line.end - 1] !== CLOSE_BRACE) return false
    if (envelope.payload !== 'msg') return this.#skipFrame(line, envelope)
    const read =
      envelope.dir === 'c2s' ? this.#clientMessageIn(line, envelope) : this.#responseIn(line, envelope)
    if (read === undefined || read.message.kind === 'batch') return false
    this.#checks.checkFrameNumber(envelope.n, line.number)
    this.#log.scannedKey = read.key
    this.#conversations.add(spokenFrom(envelope, read.message))
    this.#log.scannedKey = undefined
    return true
  }

  // Nothing of it is played.
  #skipFrame({ number }: FileLine, { n }: LinePrefix): boolean {
    this.#checks.checkFrameNumber(n, number)
    return true
  }

  #clientMessageIn(
    { bytes, end }: FileLine,
    { server, payloadStart }: LinePrefix,
  ): ScannedMessage | undefined {
    const scanned = this.#calls.read(server, bytes, payloadStart, end - 1)
    if (scanned !== undefined) return scanned
    const value = parseJson(bytes.toString('utf8', payloadStart, end - 1))
    return value === undefined ? undefined : { message: classifyMessage(value), key: undefined }
  }

  #responseIn({ bytes, end }: FileLine, { payloadStart }: LinePrefix): ScannedMessage | undefined {
    const span = guessResponseId(bytes, payloadStart, end - 1)
    const id = span === undefined ? undefined : parseIdBytes(bytes, span.start, span.end)
    return isId(id)
      ? { message: { kind: 'response', id, outcome: UNREAD_RESULT }, key: undefined }
      : undefined
  }

  #addDecoded({ bytes, start, end, number }: FileLine): void {
    const text = bytes.toString('utf8', start, end)
    const frame = decodeFrame(text)
    if (frame.kind === 'broken') return this.#checks.report(number, frame.why)
    this.#checks.checkFrame(frame, number)
    if (frame.kind === 'event' && frame.event === 'server') this.#joined.push(text)
    if (frame.kind === 'raw' && frame.cut !== undefined) this.#conversations.addCut(frame)
    if (frame.kind !== 'message') return
    for (const spoken of messagesInFrame(frame)) this.#conversations.add(spoken)
  }
}

const CLOSE_BRACE = 0x7d
const UNREAD_RESULT = { result: undefined }

interface ScannedMessage {
  readonly message: Message
  /** The key, where it was found without parsing. */
  readonly key: RequestKeyHash | undefined
}

function spokenFrom(
  { n, server, conn, x, dir }: LinePrefix,
  message: RecordedMessage['message'],
): RecordedMessage {
  if (x === undefined) return { n, t: 0, server, conn, dir, text: '', message }
  return { n, t: 0, server, conn, x, dir, text: '', message }
}

const CHUNK_BYTES = 4 * 1024 * 1024
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

interface FileLine {
  /** Written over once the line was looked at. */
  readonly bytes: Buffer
  readonly start: number
  /** Without the line's end. */
  readonly end: number
  /** Where the line begins in the file. */
  readonly at: number
  /** Counted from 1; empty lines count, but are left out. */
  readonly number: number
}

interface FileLineHandlers {
  /** Before the lines of a stretch: its bytes, from the beginning of a line to the end of one. */
  readonly onChunk: (bytes: Uint8Array) => void
  readonly onLine: (line: FileLine) => void
  /** What stands after the last line feed. */
  readonly onTruncated: (line: FileLine) => void
  readonly maxBytes: number
}

/**
 * Reads a file line by line through two buffers, so that a gigabyte needs no more memory than its longest line: while the lines
 * of one are looked at, the other is filled. False when a line is longer than `longest`.
 */
export async function readFileLines(file: FileHandle, reading: FileLineHandlers): Promise<boolean> {
  let bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let other = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let filled = 0
  let at = 0
  let number = 1
  let pending = file.read(bytes, 0, bytes.length, 0)
  for (;;) {
    const { bytesRead } = await pending
    if (bytesRead === 0) break
    filled += bytesRead
    const whole = bytes.lastIndexOf(LINE_FEED, filled - 1) + 1
    const rest = filled - whole
    if (rest > reading.maxBytes) return false
    if (rest >= other.length) other = Buffer.allocUnsafeSlow(rest * 2)
    bytes.copy(other, 0, whole, filled)
    pending = file.read(other, rest, other.length - rest, at + filled)
    if (whole > 0) reading.onChunk(bytes.subarray(0, whole))
    number = eachLine(bytes, whole, { at, number, onLine: reading.onLine })
    ;[bytes, other] = [other, bytes]
    at += whole
    filled = rest
  }
  if (filled > 0) reading.onTruncated({ bytes, start: 0, end: lineEndOf(bytes, 0, filled), at, number })
  return true
}

function eachLine(
  bytes: Buffer,
  end: number,
  { at, number: first, onLine }: { at: number; number: number; onLine: FileLineHandlers['onLine'] },
): number {
  let number = first
  for (let start = 0; start < end; number++) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const lineEnd = lineEndOf(bytes, start, feed)
    if (lineEnd > start) onLine({ bytes, start, end: lineEnd, at: at + start, number })
    start = feed + 1
  }
  return number
}

function lineEndOf(bytes: Buffer, start: number, end: number): number {
  return end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end
}
