import { ReelayError } from '../../errors.ts'
import type { Frame, MessageFrame } from '../../tape/frame.ts'
import { decodeHeader, readTapeVersion } from '../../tape/header-codec.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { withLateServers } from '../../tape/joined-servers.ts'
import type { RecordedMessage, Turn } from '../../tape/turn.ts'
import { TurnBuilder } from '../../tape/turn-builder.ts'
import { upgradeLine } from '../../tape/upgrades/index.ts'
import { LineSplitter, HARD_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { FrameReader } from './frame-reader.ts'
import type { TapeProblem, TapeReadState } from '../line-checks.ts'
import { readMatchFile } from '../companion-files.ts'
import type { CompanionFile } from '../settings-file.ts'
import { fileChunks, readFirstLine, type FirstLine } from '../tape-file.ts'

/** A tape on disk, read as a stream: nothing is held but the lines of one chunk. */
export interface TapeReader {
  readonly path: string
  readonly header: TapeHeader
  /** The version of the format that the file is in. */
  readonly version: number
  /** What the last reading of the frames has found so far. */
  readonly state: TapeReadState
  /** Every frame from the first to what stands on the disk now; each call reads the file anew. */
  frames(): AsyncGenerator<Frame>
  /** The same, many at once: to await each by itself takes longer than to read it. */
  batches(): AsyncGenerator<readonly Frame[]>
}

/** A whole tape in memory. */
export interface Tape {
  readonly path: string
  readonly header: TapeHeader
  readonly turns: readonly Turn[]
  /** Messages that belong to no turn. */
  readonly strays: readonly RecordedMessage[]
  readonly rest: readonly Exclude<Frame, MessageFrame>[]
  readonly frames: number
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** How requests are to be compared with this tape, when a file beside it says. */
  readonly matchFile?: CompanionFile
}

/** Opens a tape and reads its header. */
export function openTape(path: string): Promise<TapeReader> {
  return openTapeWith(path, fileChunks)
}

/** The same, with another way to read the bytes of the file. */
export async function openTapeWith(path: string, chunks: typeof fileChunks): Promise<TapeReader> {
  const first = await readFirstLine(path)
  const version = withPathInErrors(path, () => versionFromLine(first))
  const header = withPathInErrors(path, () => decodeHeader(upgradeLine(first.text, 1, version)))
  const state: TapeReadState = { ended: false, problems: [] }
  const batches = (): AsyncGenerator<readonly Frame[]> => readBatches(chunks(path), { version, state })
  return { path, header, version, state, batches, frames: () => flattenBatches(batches()) }
}

/** Reads a tape into memory, its messages assembled into turns. */
export async function loadTape(path: string): Promise<Tape> {
  return readTape(await openTape(path))
}

/** The same for a tape that is open. */
export async function readTape(reader: TapeReader): Promise<Tape> {
  const { path } = reader
  const builder = new TurnBuilder()
  const rest: Tape['rest'][number][] = []
  let frames = 0
  for await (const batch of reader.batches()) {
    frames += batch.length
    for (const frame of batch) {
      builder.add(frame)
      if (frame.kind !== 'message') rest.push(frame)
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
    ...state,
    ...(matchFile && { matchFile }),
  }
}

function versionFromLine({ text, complete }: FirstLine): number {
  if (complete || !text.startsWith('{"reelay":') || text.endsWith('}')) return readTapeVersion(text)
  throw new ReelayError('TAPE_BROKEN', 'the header of the tape, line 1, is cut off, and nothing follows it', {
    hint: 'the recording stopped before its first message: there is nothing to save, record again',
  })
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

// A message as long as a line may be is longer on the tape, by its envelope.
const ENVELOPE_BYTES = 64 * 1024
/** The longest line of a tape that is read. */
export const LONGEST_FRAME_BYTES: number = HARD_MAX_LINE_BYTES + ENVELOPE_BYTES

async function* flattenBatches<Item>(batches: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
  for await (const batch of batches) yield* batch
}

async function* readBatches(
  chunks: AsyncIterable<Uint8Array>,
  tape: { version: number; state: TapeReadState },
): AsyncGenerator<readonly Frame[]> {
  const lines = new FrameReader(tape)
  const splitter = new LineSplitter({
    maxBytes: LONGEST_FRAME_BYTES,
    onLine: (line, number) => lines.add(line, number),
    onOverlong: (_head, total, number) => lines.addOverlong(total, number),
  })
  for await (const chunk of chunks) {
    splitter.push(chunk)
    yield lines.takeFrames()
  }
  lines.markTruncated()
  splitter.end()
}
