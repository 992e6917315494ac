import { isUtf8 } from 'node:buffer'
import { addAbortSignal, type Readable } from 'node:stream'
import { LineSplitter } from '../protocol/lines.ts'

export type InputLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string }

/** The lines of a stream, those of one chunk at a time, until it ends, breaks off or the signal says stop. */
export async function* readInputLines(
  input: Readable,
  signal: AbortSignal,
): AsyncGenerator<readonly InputLine[]> {
  let lines: InputLine[] = []
  const splitter = new LineSplitter({
    onLine: (bytes) => lines.push(toInputLine(bytes)),
    onOverlong: (_head, total) => lines.push({ kind: 'unreadable', why: `a line of ${total} bytes` }),
  })
  for await (const chunk of chunksOf(input, signal)) {
    splitter.push(chunk)
    yield lines
    lines = []
  }
  if (!signal.aborted) splitter.end()
  yield lines
}

async function* chunksOf(input: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, input)) {
      if (chunk instanceof Uint8Array) yield chunk
      else if (typeof chunk === 'string') yield Buffer.from(chunk)
    }
  } catch {
    // A client that is killed may break its pipe instead of closing it, and a stop breaks the reading off: both end the input.
  }
}

function toInputLine(bytes: Uint8Array): InputLine {
  if (!isUtf8(bytes)) return { kind: 'unreadable', why: 'not UTF-8' }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  return { kind: 'text', text }
}
