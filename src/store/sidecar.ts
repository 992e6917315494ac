import { open, rename, rm, writeFile } from 'node:fs/promises'
import type { Fingerprint } from './fingerprint.ts'
import { decodeIndex, encodeIndex } from './index-codec.ts'
import type { TapeIndex } from './tape-index.ts'

/** The index of a tape in a file beside it. It only saves time: whatever is wrong with it, it is as if it were not there. */
export function sidecarPath(tape: string): string {
  return `${tape}.idx`
}

/** Reads the index of a tape, if there is one and it is of this very tape. */
export async function readSidecar(tape: string, fingerprint: Fingerprint): Promise<TapeIndex | undefined> {
  try {
    return decodeIndex(await readWhole(sidecarPath(tape), fingerprint.bytes + FACTS_BYTES), fingerprint)
  } catch {
    return undefined // not there, or not ours to read: the tape is looked through instead
  }
}

/** Writes the index as a whole or not at all; a folder that cannot be written to goes without. */
export async function writeSidecar(tape: string, index: TapeIndex, fingerprint: Fingerprint): Promise<void> {
  const path = sidecarPath(tape)
  const draft = `${path}.${process.pid}.new`
  try {
    await writeFile(draft, encodeIndex(index, fingerprint), { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } catch {
    await rm(draft, { force: true }).catch(() => {}) // it will be tried again the next time
  }
}

// The columns are always shorter than the tape; what else an index says is short.
const FACTS_BYTES = 1024 * 1024

/** The bytes of a file in a buffer of their own; none when there are too many. */
async function readWhole(path: string, atMost: number): Promise<ArrayBuffer> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const bytes = new ArrayBuffer(size <= atMost ? size : 0)
    const { bytesRead } = await file.read(new Uint8Array(bytes))
    return bytesRead === size ? bytes : new ArrayBuffer(0)
  } finally {
    await file.close()
  }
}
