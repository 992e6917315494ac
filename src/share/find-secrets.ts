import { createReadStream } from 'node:fs'
import { encodedForms } from '../redact/secret-values.ts'
import { isDistinctive } from '../redact/value-checks.ts'
import type { TapeReader } from '../store/file/read.ts'
import { encodeFrame } from '../tape/codec.ts'
import { encodeHeader } from '../tape/header.ts'

/** A value on a tape that looks like a secret, and the frames that contain it; 0 is the header. */
export interface SecretOccurrence {
  readonly value: string
  readonly frames: readonly number[]
}

/** Finds these values on a tape, in any encoding. */
export async function findSecretOccurrences(
  reader: TapeReader,
  values: readonly string[],
): Promise<readonly SecretOccurrence[]> {
  const found = values.map((value) => ({ value, forms: encodedForms(value), frames: [] as number[] }))
  const look = (line: string, n: number): void => {
    for (const { forms, frames } of found) if (forms.some((form) => line.includes(form))) frames.push(n)
  }
  look(encodeHeader(reader.header), 0)
  for await (const frame of reader.frames()) look(encodeFrame(frame), frame.n)
  return found.map(({ value, frames }) => ({ value, frames }))
}

/** Counts how many of these values a file contains in any encoding: plain, escaped, URL-encoded, or base64 at any offset. */
export async function countLeakedSecrets(path: string, values: readonly string[]): Promise<number> {
  const wanted = values
    .filter(isDistinctive)
    .map((value) => encodedForms(value).filter((form) => form.length >= MIN_FORM_LENGTH))
  const found = new Set<number>()
  let before = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })) {
    const text = before + String(chunk)
    for (const [index, forms] of wanted.entries())
      if (!found.has(index) && forms.some((form) => text.includes(form))) found.add(index)
    before = text.slice(-OVERLAP_LENGTH)
  }
  return found.size
}

const MIN_FORM_LENGTH = 6
const CHUNK_BYTES = 1024 * 1024
/** Overlap between chunks, so that a value across a chunk boundary is still found. */
const OVERLAP_LENGTH = 64 * 1024
