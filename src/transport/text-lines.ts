import { LineSplitter } from '../protocol/lines.ts'

export interface TextLineSplitterOptions {
  /** A line without its end; empty ones are not delivered. */
  readonly onLine: (line: string) => void
  /** A line that is too long to be held: its beginning and its real length. */
  readonly onOverlong: (head: string, total: number) => void
}

const LINE_FEED = 10

/** Cuts bytes into lines of text. Lines that stand whole in a chunk are decoded together, which takes a fraction of the time. */
export class TextLineSplitter {
  readonly #onLine: (line: string) => void
  /** For what is cut by the ends of chunks. */
  readonly #splitter: LineSplitter
  #isCut = false

  constructor({ onLine, onOverlong }: TextLineSplitterOptions) {
    this.#onLine = onLine
    this.#splitter = new LineSplitter({
      onLine: (line) => onLine(decodeBytes(line)),
      onOverlong: (head, total) => onOverlong(decodeBytes(head), total),
    })
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(LINE_FEED)
    if (last < 0) return this.#keep(chunk)
    const first = this.#isCut ? chunk.indexOf(LINE_FEED) + 1 : 0
    if (first > 0) this.#splitter.push(chunk.subarray(0, first))
    this.#isCut = false
    if (first <= last) this.#splitText(chunk.toString('utf8', first, last + 1))
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1))
  }

  /** Delivers what stands after the last line feed. */
  end(): void {
    this.#splitter.end()
  }

  #keep(part: Buffer): void {
    this.#splitter.push(part)
    this.#isCut = true
  }

  #splitText(text: string): void {
    let start = 0
    for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', start)) {
      const end = text[feed - 1] === '\r' ? feed - 1 : feed
      if (end > start) this.#onLine(text.slice(start, end))
      start = feed + 1
    }
  }
}

function decodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
