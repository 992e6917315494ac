import { statSync } from 'node:fs'
import { decodeFrame, type BrokenLine } from '../../tape/codec.ts'
import type { Frame } from '../../tape/frame.ts'
import { TAPE_VERSION, type TapeHeader, withLateServers } from '../../tape/header.ts'
import { turnStoreOf, type Turns } from '../../tape/turns.ts'
import { tapeFingerprintOf, type TapeFingerprint, openIndexFile, type OpenIndex } from './index-file.ts'
import { IndexedTurns } from './indexed-turns.ts'
import type { TapeProblem } from '../file/frame-reader.ts'
import { TapeLineFile } from './turn-reader.ts'
import { readMatchFile, type CompanionFile } from '../companion-files.ts'
import { loadTape, openTape } from '../file/read.ts'

/** A tape whose turns stay on the disk until they are asked for. */
export interface IndexedTape {
  readonly path: string
  readonly header: TapeHeader
  readonly turns: Turns
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** How requests are to be compared with this tape, when a file beside it says. */
  readonly matchFile?: CompanionFile
  /** Gives the file back; it may be called twice. */
  close(): void
}

export interface OpenIndexedOptions {
  /** A tape of up to so many bytes is read whole. */
  readonly smallBytes?: number
}

// Up to here a tape in memory costs little, and answers faster than one on disk.
const IN_MEMORY_BYTES = 8 * 1024 * 1024

/**
 * Opens a tape of any size to play it. A small one is read whole. Of a large one only an index is held: the one in the file
 * beside it, if that is of this very tape, else one that is made now and left there.
 */
export async function openIndexedTape(
  path: string,
  { smallBytes = IN_MEMORY_BYTES }: OpenIndexedOptions = {},
): Promise<IndexedTape> {
  const reader = await openTape(path)
  const fingerprint = tapeFingerprintOf(path)
  const isWorthIt = fingerprint.bytes > smallBytes && reader.version === TAPE_VERSION
  const sidecar = isWorthIt
    ? (openIndexFile(path, fingerprint) ?? (await buildIndexLazily(path, fingerprint)))
    : undefined
  if (sidecar === undefined) return openInMemory(path)
  const { ended, problems, joined } = sidecar.index.about
  const file = new TapeLineFile(path, statSync(path).size) // it may have grown while it was looked through
  const matchFile = await readMatchFile(path)
  return {
    path,
    header: withLateServers(reader.header, joined.map(decodeFrame).filter(isFrame)),
    turns: new IndexedTurns(sidecar.index, file),
    ended,
    problems,
    ...(matchFile && { matchFile }),
    close: () => {
      file.close()
      sidecar.close()
    },
  }
}

/** Whoever has the index in a file waits for an answer, and does not wait for the maker of indexes to be loaded. */
async function buildIndexLazily(path: string, fingerprint: TapeFingerprint): Promise<OpenIndex | undefined> {
  const { buildIndex } = await import('./build-index.ts')
  return buildIndex(path, fingerprint)
}

// An older version is upgraded line by line, and a line beyond all bounds is passed over: both are rare, and read whole.
async function openInMemory(path: string): Promise<IndexedTape> {
  const tape = await loadTape(path)
  return { ...tape, turns: turnStoreOf(tape.turns), close: () => {} }
}

function isFrame(line: Frame | BrokenLine): line is Frame {
  return line.kind !== 'broken'
}
