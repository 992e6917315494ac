import { once } from 'node:events'

/** Writes a result of any length to stdout, line by line. */
export function printLines(lines: Iterable<string>, shown: (text: string) => string = String): Promise<void> {
  return printPieces(ended(lines), shown)
}

/** Writes a result of any length to stdout: it is written as fast as it is read, and no further when nobody reads any more. */
export async function printPieces(
  pieces: Iterable<string>,
  shown: (text: string) => string = String,
): Promise<void> {
  const left = new AbortController()
  const leave = (): void => left.abort()
  process.stdout.once('error', leave)
  for (const block of blocksOf(pieces)) {
    if (left.signal.aborted) return
    if (!process.stdout.write(shown(block))) await room(left.signal)
  }
  process.stdout.off('error', leave)
}

const BLOCK_CHARACTERS = 1024 * 1024

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`
}

/** Small pieces together: each that is written by itself takes a call of the system. */
export function* blocksOf(pieces: Iterable<string>): Generator<string> {
  let block: string[] = []
  let characters = 0
  for (const piece of pieces) {
    block.push(piece)
    characters += piece.length
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
