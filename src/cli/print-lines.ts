import { once } from 'node:events'

/** Writes a result of any length to stdout: it is written as fast as it is read, and no further when nobody reads any more. */
export async function printLines(
  lines: Iterable<string>,
  shown: (text: string) => string = String,
): Promise<void> {
  const left = new AbortController()
  const leave = (): void => left.abort()
  process.stdout.once('error', leave)
  for (const block of blocksOf(lines)) {
    if (left.signal.aborted) return
    if (!process.stdout.write(shown(block))) await room(left.signal)
  }
  process.stdout.off('error', leave)
}

const BLOCK_CHARACTERS = 1024 * 1024

function* blocksOf(lines: Iterable<string>): Generator<string> {
  let block: string[] = []
  let characters = 0
  for (const line of lines) {
    block.push(line, '\n')
    characters += line.length
    if (characters < BLOCK_CHARACTERS) continue
    yield block.join('')
    block = []
    characters = 0
  }
  if (block.length > 0) yield block.join('')
}

async function room(signal: AbortSignal): Promise<void> {
  await once(process.stdout, 'drain', { signal }).catch(() => {}) // whoever read has left, and no more is written
}
