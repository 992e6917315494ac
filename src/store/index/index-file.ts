import { open, rename, rm } from 'node:fs/promises'
import type { TapeFingerprint } from '../fingerprint.ts'
import { encodeIndex, decodeIndex } from '../index-codec.ts'
import { IndexFile } from '../index-file.ts'
import type { IndexData, TapeIndex } from './tape-index.ts'

// The index of a tape in a file beside it only saves time: whatever is wrong with it, it is as if it were not there.

/** An index whose columns are read from its file. */
export interface OpenIndex {
  readonly index: TapeIndex
  /** Gives the file back; it may be called twice. */
  close(): void
}

/** Opens the index of a tape, if there is one and it is of this very tape. */
export function openIndexFile(tape: string, fingerprint: TapeFingerprint): OpenIndex | undefined {
  try {
    const file = new IndexFile(indexPathFor(tape))
    const index = decodeIndex(file, fingerprint)
    if (index !== undefined) return { index, close: () => file.close() }
    file.close()
  } catch {
    // not there, or not ours to read: the tape is looked through instead
  }
  return undefined
}

/** Writes the index as a whole or not at all; a folder that cannot be written to goes without. */
export async function writeIndexFile(
  tape: string,
  index: IndexData,
  fingerprint: TapeFingerprint,
): Promise<void> {
  const path = indexPathFor(tape)
  const draft = `${path}.${process.pid}.new`
  try {
    await writeParts(draft, encodeIndex(index, fingerprint))
    await rename(draft, path)
  } catch {
    await rm(draft, { force: true }).catch(() => {}) // it will be tried again the next time
  }
}

function indexPathFor(tape: string): string {
  return `${tape}.idx`
}

async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}
