import { statSync } from 'node:fs'
import { decodeFrame, type BrokenLine } from '../tape/codec.ts'
import type { Frame } from '../tape/frame.ts'
import { TAPE_VERSION, type Header } from '../tape/header.ts'
import { withJoinedServers } from '../tape/joined-servers.ts'
import { heldTurns, type TurnStore } from '../tape/turn-store.ts'
import { fingerprintOf, type Fingerprint } from './fingerprint.ts'
import { IndexedTurns } from './indexed-turns.ts'
import type { Problem } from './line-checks.ts'
import { LineFile } from './line-file.ts'
import { readMatchFile } from './match-file.ts'
import { loadTape, openTape } from './read.ts'
import type { SettingsFile } from './settings-file.ts'
import { openSidecar, type Sidecar } from './sidecar.ts'

/** A tape whose turns stay on the disk until they are asked for. */
export interface IndexedTape {
  readonly path: string
  readonly header: Header
  readonly turns: TurnStore
  readonly ended: boolean
  readonly problems: readonly Problem[]
  /** How requests are to be compared with this tape, when a file beside it says. */
  readonly matchFile?: SettingsFile
  /** Gives the file back; it may be called twice. */
  close(): void
}

export interface OpenIndexedOptions {
  /** A tape of up to so many bytes is read whole. */
  readonly smallBytes?: number
}

// Up to here a tape in memory costs little, and answers faster than one on disk.
const SMALL_BYTES = 8 * 1024 * 1024

/**
 * Opens a tape of any size to play it. A small one is read whole. Of a large one only an index is held: the one in the file
 * beside it, if that is of this very tape, else one that is made now and left there.
 */
export async function openIndexedTape(
  path: string,
  { smallBytes = SMALL_BYTES }: OpenIndexedOptions = {},
): Promise<IndexedTape> {
  const reader = await openTape(path)
  const fingerprint = fingerprintOf(path)
  const isWorthIt = fingerprint.bytes > smallBytes && reader.version === TAPE_VERSION
  const sidecar = isWorthIt
    ? (openSidecar(path, fingerprint) ?? (await madeNow(path, fingerprint)))
    : undefined
  if (sidecar === undefined) return held(path)
  const { ended, problems, joined } = sidecar.index.about
  const file = new LineFile(path, statSync(path).size) // it may have grown while it was looked through
  const matchFile = await readMatchFile(path)
  return {
    path,
    header: withJoinedServers(reader.header, joined.map(decodeFrame).filter(isFrame)),
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
async function madeNow(path: string, fingerprint: Fingerprint): Promise<Sidecar | undefined> {
  const { indexNow } = await import('./index-now.ts')
  return indexNow(path, fingerprint)
}

// An older version is upgraded line by line, and a line beyond all bounds is passed over: both are rare, and read whole.
async function held(path: string): Promise<IndexedTape> {
  const tape = await loadTape(path)
  return { ...tape, turns: heldTurns(tape.turns), close: () => {} }
}

function isFrame(line: Frame | BrokenLine): line is Frame {
  return line.kind !== 'broken'
}
