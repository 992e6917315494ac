import { createReadStream } from 'node:fs'
import { formsOf } from '../redact/known-values.ts'
import { isDistinct } from '../redact/value-tests.ts'

/** How many of these values stand in a file, in whatever spelling: plain, escaped, in a URL, in base64 at any offset. */
export async function countLeaks(path: string, values: readonly string[]): Promise<number> {
  const wanted = values
    .filter(isDistinct)
    .map((value) => formsOf(value).filter((form) => form.length >= SHORTEST))
  const found = new Set<number>()
  let before = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: CHUNK })) {
    const text = before + String(chunk)
    for (const [index, forms] of wanted.entries())
      if (!found.has(index) && forms.some((form) => text.includes(form))) found.add(index)
    before = text.slice(-LONGEST)
  }
  return found.size
}

const SHORTEST = 6
const CHUNK = 1024 * 1024
/** What is cut by the end of a chunk is looked at again with the next one. */
const LONGEST = 64 * 1024
