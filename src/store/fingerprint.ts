import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

/** What tells whether a tape is still the one that an index was made of. */
export interface Fingerprint {
  readonly bytes: number
  readonly modified: number
  /** Of the beginning and the end. */
  readonly sha256: string
}

const ENDS_BYTES = 4096

export async function fingerprintOf(path: string): Promise<Fingerprint> {
  const file = await open(path, 'r')
  try {
    const { size, mtimeMs } = await file.stat()
    const ends = Buffer.alloc(Math.min(size, ENDS_BYTES) * 2)
    await file.read(ends, 0, ends.length / 2, 0)
    await file.read(ends, ends.length / 2, ends.length / 2, size - ends.length / 2)
    return { bytes: size, modified: mtimeMs, sha256: createHash('sha256').update(ends).digest('hex') }
  } finally {
    await file.close()
  }
}
