import { open } from 'node:fs/promises'
import { hashText } from './hash.ts'

/** What tells whether a tape is still the one that an index was made of. */
export interface Fingerprint {
  readonly bytes: number
  readonly modified: number
  /** A hash of the beginning and the end. */
  readonly ends: string
}

const ENDS_BYTES = 4096

export async function fingerprintOf(path: string): Promise<Fingerprint> {
  const file = await open(path, 'r')
  try {
    const { size, mtimeMs } = await file.stat()
    const ends = Buffer.alloc(Math.min(size, ENDS_BYTES) * 2)
    await file.read(ends, 0, ends.length / 2, 0)
    await file.read(ends, ends.length / 2, ends.length / 2, size - ends.length / 2)
    const { low, high } = hashText(ends.toString('latin1'))
    return { bytes: size, modified: mtimeMs, ends: `${low.toString(16)}-${high.toString(16)}` }
  } finally {
    await file.close()
  }
}
