import { channel, type Channel } from 'node:diagnostics_channel'
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  type Stats,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorMessage, systemErrorCode, ReelayError } from '../../errors.ts'
import { type Line, lineBytes, LineSplitter, HARD_MAX_LINE_BYTES, decodeUtf8 } from '../../protocol/lines.ts'
import { similarName } from '../../text.ts'
import { TAPE_EXTENSION, tapeFolder } from '../home.ts'
import { readMatchFile, type CompanionFile } from '../companion-files.ts'
import { FrameReader, type TapeProblem, type TapeReadState } from './frame-reader.ts'
import { isSeenBy, type Frame, type LinkSide, type MessageFrame } from '../../tape/frame.ts'
import {
  decodeHeader,
  NOT_OURS_HINT,
  readTapeVersion,
  type TapeHeader,
  withLateServers,
} from '../../tape/header.ts'
import { TurnBuilder } from '../../tape/turn-builder.ts'
import type { RecordedMessage, Turn } from '../../tape/turns.ts'
import { upgradeLine } from '../../tape/upgrades/index.ts'

/** Reads a tape as a stream. Only the lines of one chunk are in memory. */
export interface TapeReader {
  readonly path: string
  readonly header: TapeHeader
  /** Version of the tape format. */
  readonly version: number
  /** The findings of the current or last pass over the frames. */
  readonly state: TapeReadState
  /** Yields all frames that are in the file now. Each call reads the file from the beginning. */
  frames(): AsyncGenerator<Frame>
  /** Yields many frames at once, which is faster than awaiting each one. */
  batches(): AsyncGenerator<readonly Frame[]>
  /** Returns false for frames that are left out. They are read all the same, because their requests have numbers. */
  readonly isShown?: (frame: Frame) => boolean
}

/** A whole tape in memory. */
export interface Tape {
  readonly path: string
  readonly header: TapeHeader
  readonly turns: readonly Turn[]
  /** Messages that belong to no turn. */
  readonly strays: readonly RecordedMessage[]
  readonly rest: readonly Exclude<Frame, MessageFrame>[]
  /** Messages that were held, as the other side saw them. They are in no turn. */
  readonly otherSide?: readonly MessageFrame[]
  readonly frames: number
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** The matching rules from a file beside the tape, if there is one. */
  readonly matchFile?: CompanionFile
}

/** Opens a tape and reads its header. */
export function openTape(path: string): Promise<TapeReader> {
  return openTapeWith(path, fileChunks)
}

/** Like `openTape`, with another way to read the file. */
export async function openTapeWith(path: string, chunks: typeof fileChunks): Promise<TapeReader> {
  const first = await readFirstLine(path)
  const version = withPathInErrors(path, () => versionFromLine(first))
  const header = withPathInErrors(path, () => decodeHeader(upgradeLine(first.text, 1, version)))
  const state: TapeReadState = { ended: false, problems: [] }
  const batches = (): AsyncGenerator<readonly Frame[]> => readBatches(chunks(path), { version, state })
  return { path, header, version, state, batches, frames: () => flattenBatches(batches()) }
}

/** Reads a tape into memory and assembles its messages into turns. */
export async function loadTape(path: string, side?: LinkSide): Promise<Tape> {
  return readTape(await openTape(path), side)
}

/** Like `loadTape`, for an open tape. Messages that were held are taken as one side saw them. */
export async function readTape(reader: TapeReader, side: LinkSide = 'client'): Promise<Tape> {
  const { path } = reader
  const builder = new TurnBuilder(side)
  const rest: Tape['rest'][number][] = []
  const otherSide: MessageFrame[] = []
  let frames = 0
  for await (const batch of reader.batches()) {
    frames += batch.length
    for (const frame of batch) {
      if (reader.isShown?.(frame) === false) {
        builder.skip(frame)
        frames--
        continue
      }
      builder.add(frame)
      if (frame.kind !== 'message') rest.push(frame)
      else if (!isSeenBy(frame, side)) otherSide.push(frame)
    }
  }
  const { state } = reader
  const header = withLateServers(reader.header, rest)
  const matchFile = await readMatchFile(path)
  return {
    path,
    header,
    turns: builder.turns(),
    strays: builder.strays(),
    rest,
    frames,
    ...(otherSide.length > 0 && { otherSide }),
    ...state,
    ...(matchFile && { matchFile }),
  }
}

function versionFromLine({ text, complete }: FirstLine): number {
  if (complete || !text.startsWith('{"reelay":') || text.endsWith('}')) return readTapeVersion(text)
  throw new ReelayError(
    'TAPE_BROKEN',
    'the header of the tape, line 1, is truncated, and nothing follows it',
    {
      hint: 'the recording stopped before its first message: there is nothing to recover; record again',
    },
  )
}

function withPathInErrors<Result>(path: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const { code, message, hint } = error
    throw new ReelayError(code, `${path}: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    })
  }
}

// A frame is longer than its message.
const ENVELOPE_BYTES = 64 * 1024
/** Longer lines of a tape are skipped. */
export const LONGEST_FRAME_BYTES: number = HARD_MAX_LINE_BYTES + ENVELOPE_BYTES

async function* flattenBatches<Item>(batches: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
  for await (const batch of batches) yield* batch
}

async function* readBatches(
  chunks: AsyncIterable<Uint8Array>,
  tape: { version: number; state: TapeReadState },
): AsyncGenerator<readonly Frame[]> {
  const reader = new FrameReader(tape)
  const splitter = new LineSplitter({ maxBytes: LONGEST_FRAME_BYTES })
  const add = (line: Line): void =>
    line.isOverlong ? reader.addOverlong(line.length, line.number) : reader.add(lineBytes(line), line.number)
  for await (const chunk of chunks) {
    for (const line of splitter.split(chunk)) add(line)
    yield reader.takeFrames()
  }
  reader.markTruncated()
  for (const line of splitter.end()) add(line)
}

const CHUNK_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 1024 * 1024
const LINE_FEED = 10

/** Line 1 of a tape. */
interface FirstLine {
  readonly text: string
  readonly complete: boolean
}

/** Throws if the file cannot be a tape. */
async function readFirstLine(path: string): Promise<FirstLine> {
  assertReadableFile(path)
  let head = Buffer.alloc(0)
  for await (const chunk of fileChunks(path)) {
    head = Buffer.concat([head, chunk])
    if (head.includes(LINE_FEED) || head.length > MAX_HEADER_BYTES) break
  }
  return decodeFirstLine(path, head)
}

/** Tells how much of a tape has been read, so that long work can show its progress. Messages are `TapeRead`. */
const tapeReads: Channel = channel('reelay:tape-read')

export interface TapeRead {
  readonly path: string
  readonly bytes: number
  readonly of: number
}

/**
 * Yields the current content of a file. Every chunk is a new buffer. It is read synchronously, because most tapes have one chunk,
 * and handing it to another thread takes longer than reading it. Between chunks, other work gets its turn.
 */
export async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = openForReading(path)
  try {
    let bytes = 0
    for (;;) {
      const chunk = nextChunk(path, file)
      if (chunk.length === 0) return
      bytes += chunk.length
      if (tapeReads.hasSubscribers) tapeReads.publish({ path, bytes, of: fstatSync(file).size })
      yield chunk
      if (chunk.length === CHUNK_BYTES) await new Promise(setImmediate)
    }
  } finally {
    closeSync(file)
  }
}

/** Returns true if two files have the same bytes. Files of different sizes are not read. */
export function hasSameBytes(one: string, other: string): boolean {
  assertReadableFile(one)
  assertReadableFile(other)
  const [left, right] = [openForReading(one), openForReading(other)]
  try {
    const { size } = fstatSync(left)
    if (size !== fstatSync(right).size) return false
    const [ours, theirs] = [Buffer.allocUnsafe(COMPARED_BYTES), Buffer.allocUnsafe(COMPARED_BYTES)]
    for (let at = 0; at < size; at += COMPARED_BYTES) {
      const [read, alsoRead] = [
        readSync(left, ours, { position: at }),
        readSync(right, theirs, { position: at }),
      ]
      if (read !== alsoRead || ours.compare(theirs, 0, read, 0, read) !== 0) return false
    }
    return true
  } finally {
    closeSync(left)
    closeSync(right)
  }
}

const COMPARED_BYTES = 1024 * 1024

// Checked before the file is opened: opening a pipe would wait for its writer, and opening a device can have side effects.
function assertReadableFile(path: string): void {
  const found = statOf(path)
  if (found.isDirectory()) {
    throw new ReelayError('TAPE_IS_A_FOLDER', `${path} is a folder, not a tape`, {
      hint: 'give the path of a file in it; `reelay list` shows the tapes of the tape folder',
    })
  }
  if (!found.isFile()) {
    throw new ReelayError('TAPE_UNREADABLE', `${path} is a pipe, a socket or a device, not a file`, {
      hint: 'copy the tape into a file first',
    })
  }
  if (found.size === 0) throw new ReelayError('TAPE_EMPTY', `${path} is empty`, { hint: EMPTY_HINT })
}

function statOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    throw unreadableTape(path, error)
  }
}

const EMPTY_HINT = 'record the session again; a recorder that is killed at its start leaves an empty file'

/** Names the tape that was probably meant: one with a similar name, or a file of that name in the working directory. */
export function missingTapeHint(path: string): string {
  const isNamed = dirname(path) === tapeFolder()
  if (!isNamed && /(^|[/\\])https?:[/\\]/.test(path)) return 'a tape is a file: download it first'
  if (isNamed && basename(path, TAPE_EXTENSION) === '-')
    return 'a tape is not read from stdin: write it to a file first'
  const [local] = isNamed
    ? [basename(path), basename(path, TAPE_EXTENSION)].filter((file) => existsSync(file))
    : []
  if (local !== undefined && statSync(local).isFile())
    return isTapeFile(local)
      ? `did you mean ./${local}? A name without a path is a tape in ${tapeFolder()}`
      : `./${local} is not a tape; \`reelay list\` shows your tapes, and \`reelay import\` reads recordings of other tools`
  // `hello.tape.jsonl` or `./hello` was typed for the tape `hello`.
  const name = basename(path, TAPE_EXTENSION)
  if (!isNamed && existsSync(join(tapeFolder(), `${name}${TAPE_EXTENSION}`)))
    return `did you mean ${name}? A tape in ${tapeFolder()} has a name without a path`
  const names = tapesIn(dirname(path)).map((file) => (isNamed ? file.slice(0, -TAPE_EXTENSION.length) : file))
  const similar = similarName(isNamed ? basename(path, TAPE_EXTENSION) : basename(path), names)
  const guess =
    similar === undefined ? '' : `did you mean ${isNamed ? similar : join(dirname(path), similar)}? `
  return isNamed
    ? `${guess}\`reelay list\` shows your tapes; refer to a tape elsewhere by its path`
    : `${guess}${guess === '' ? 'check' : 'Check'} the path; \`reelay list\` shows the tapes that have a name`
}

const TAPE_BEGINNING = '{"reelay"'

function isTapeFile(path: string): boolean {
  const beginning = Buffer.alloc(TAPE_BEGINNING.length)
  try {
    const file = openSync(path, 'r')
    try {
      readSync(file, beginning)
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
  return beginning.toString('latin1') === TAPE_BEGINNING
}

function tapesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith(TAPE_EXTENSION))
  } catch {
    return []
  }
}

function unreadableTape(path: string, error: unknown): ReelayError {
  const code = systemErrorCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new ReelayError('TAPE_NOT_FOUND', `there is no tape at ${path}`, {
      hint: missingTapeHint(path),
      cause: error,
    })
  }
  const why = errorMessage(error)
  return new ReelayError('TAPE_UNREADABLE', `${path} cannot be read: ${why}`, {
    hint: 'check the permissions of the file and of the folders above it',
    cause: error,
  })
}

function openForReading(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw unreadableTape(path, error)
  }
}

function nextChunk(path: string, file: number): Uint8Array {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    return chunk.subarray(0, readSync(file, chunk))
  } catch (error) {
    throw unreadableTape(path, error)
  }
}

function decodeFirstLine(path: string, head: Uint8Array): FirstLine {
  const end = head.indexOf(LINE_FEED)
  const text = decodeUtf8(end < 0 ? head : head.subarray(0, end))
  if (text !== undefined && (end >= 0 || head.length <= MAX_HEADER_BYTES)) {
    return { text: text.replace(/^\uFEFF/, ''), complete: end >= 0 }
  }
  const why = text === undefined ? 'it is not UTF-8 text' : 'its first line does not end'
  throw new ReelayError('TAPE_NOT_OURS', `${path}: not a Reelay tape: ${why}`, {
    hint: NOT_OURS_HINT,
  })
}

/** Reads the HTTP heads of a tape, and its SSE events without a message. */
export async function readHttpFrames(path: string): Promise<Tape['rest']> {
  const frames: Tape['rest'][number][] = []
  const reader = await openTape(path)
  for await (const frame of reader.frames())
    if (frame.kind === 'http' || (frame.kind === 'event' && frame.event === 'sse')) frames.push(frame)
  return frames
}
