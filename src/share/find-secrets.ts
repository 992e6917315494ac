import { encodedForms } from '../redact/known-values.ts'
import type { TapeReader } from '../store/file/read.ts'
import { encodeFrame } from '../tape/codec.ts'
import { encodeHeader } from '../tape/header-codec.ts'

/** A value of a tape that is taken for a secret, and the frames that it stands in; 0 is the header. */
export interface SecretOccurrence {
  readonly value: string
  readonly frames: readonly number[]
}

/** Where these values stand on a tape, in whatever spelling. */
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
