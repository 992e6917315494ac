import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** What tells whether a tape is still the one that an index was made of. */
export interface TapeFingerprint {
  readonly bytes: number
  readonly modified: number
  /** The beginning and the end, in Base64. */
  readonly ends: string
}

const END_BYTES = 1024

export function tapeFingerprintOf(path: string): TapeFingerprint {
  const fd = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(fd)
    const length = Math.min(size, END_BYTES)
    const ends = Buffer.alloc(length * 2)
    readSync(fd, ends, 0, length, 0)
    readSync(fd, ends, length, length, size - length)
    return { bytes: size, modified: mtimeMs, ends: ends.toString('base64') }
  } finally {
    closeSync(fd)
  }
}
