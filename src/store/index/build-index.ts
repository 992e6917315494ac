import { open } from 'node:fs/promises'
import { readFileLines } from '../file-lines.ts'
import { tapeFingerprintOf, type TapeFingerprint } from '../fingerprint.ts'
import { IndexBuilder } from '../index-builder.ts'
import { inMemoryIndex } from '../index-columns.ts'
import { LONGEST_FRAME_BYTES } from '../file/read.ts'
import { writeIndexFile, type OpenIndex } from './index-file.ts'
import type { IndexData } from './tape-index.ts'

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
