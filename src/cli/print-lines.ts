import { once } from 'node:events'

/** Writes a result of any length to stdout, line by line. */
export function printLines(lines: Iterable<string>, shown: (text: string) => string = String): Promise<void> {
  return printChunks(withLineEnds(lines), shown)
}

/** Writes a result of any length to stdout: it is written as fast as it is read, and no further when nobody reads any more. */
export async function printChunks(
  pieces: Iterable<string>,
  shown: (text: string) => string = String,
): Promise<void> {
  const left = new AbortController()
  const leave = (): void => left.abort()
  process.stdout.once('error', leave)
  for (const block of joinedChunks(pieces)) {
    if (left.signal.aborted) return
    if (!process.stdout.write(shown(block))) await waitForDrain(left.signal)
  }
  process.stdout.off('error', leave)
}

const CHUNK_CHARACTERS = 1024 * 1024

function* withLineEnds(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`
}

/** Small pieces together: each that is written by itself takes a call of the system. */
export function* joinedChunks(pieces: Iterable<string>): Generator<string> {
  let block: string[] = []
  let characters = 0
  for (const piece of pieces) {
    block.push(piece)
    characters += piece.length
    if (characters < CHUNK_CHARACTERS) continue
    yield block.join('')
    block = []
    characters = 0
  }
  if (block.length > 0) yield block.join('')
}

async function waitForDrain(signal: AbortSignal): Promise<void> {
  await once(process.stdout, 'drain', { signal }).catch(() => {}) // whoever read has left, and no more is written
}
