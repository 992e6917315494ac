import { createReadStream } from 'node:fs'
import { encodedForms } from '../redact/known-values.ts'
import { isDistinctive } from '../redact/value-checks.ts'

/** How many of these values stand in a file, in whatever spelling: plain, escaped, in a URL, in base64 at any offset. */
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
/** What is cut by the end of a chunk is looked at again with the next one. */
const OVERLAP_LENGTH = 64 * 1024
