import { open } from 'node:fs/promises'
import { readLines } from './file-lines.ts'
import { fingerprintOf, type Fingerprint } from './fingerprint.ts'
import { IndexBuilder } from './index-builder.ts'
import { heldIndex } from './index-columns.ts'
import { LONGEST_FRAME_BYTES } from './read.ts'
import { writeSidecar, type Sidecar } from './sidecar.ts'
import type { MadeIndex } from './tape-index.ts'

/** Looks a tape through, and leaves its index beside it; none when a line of it is too long. */
export async function indexNow(path: string, fingerprint: Fingerprint): Promise<Sidecar | undefined> {
  const made = await lookThrough(path)
  if (made === undefined) return undefined
  if (fingerprintOf(path).modified === fingerprint.modified) await writeSidecar(path, made, fingerprint)
  return { index: heldIndex(made), close: () => {} }
}

async function lookThrough(path: string): Promise<MadeIndex | undefined> {
  const builder = new IndexBuilder()
  const file = await open(path, 'r')
  try {
    const isWhole = await readLines(file, {
      onStretch: (bytes) => builder.expect(bytes),
      onLine: (line) => builder.add(line),
      onRest: (line) => builder.addRest(line),
      longest: LONGEST_FRAME_BYTES,
    })
    return isWhole ? builder.taken() : undefined
  } finally {
    await file.close()
  }
}
