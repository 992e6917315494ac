/** A line as it came: whole chunks first, then a piece of the last one. Without its newline, and without a carriage return before it. */
export interface SegmentedLine {
  readonly parts: readonly Uint8Array[]
  readonly chunk: Uint8Array
  readonly start: number
  readonly end: number
  readonly bytes: number
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const NOTHING = new Uint8Array(0)
const NO_PARTS: readonly Uint8Array[] = []

/** Splits chunks into lines without copying a byte: what a recorder needs, where `LineSplitter` hands out whole lines. */
export class SegmentedLineSplitter {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** How much of an unfinished line is waiting. */
  get bytes(): number {
    return this.#bytes
  }

  /** The lines that this chunk ends; empty ones are left out. */
  split(chunk: Uint8Array): readonly SegmentedLine[] {
    const lines: SegmentedLine[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#finish(chunk, start, end, lines)
      start = end + 1
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start))
    return lines
  }

  /** What stands without a newline. */
  end(): readonly SegmentedLine[] {
    const lines: SegmentedLine[] = []
    if (this.#bytes > 0) this.#finish(NOTHING, 0, 0, lines)
    return lines
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes <= this.#maxBytes) this.#parts.push(part)
    else this.#parts = [this.#parts[0] ?? part] // too long for the tape: its head is enough to name it
  }

  #finish(chunk: Uint8Array, start: number, lineEnd: number, lines: SegmentedLine[]): void {
    const end = lineEnd > start && chunk[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd
    if (lineEnd === start) this.#dropCarriageReturn()
    const bytes = this.#bytes + end - start
    if (bytes > 0) lines.push({ parts: this.#bytes > 0 ? this.#parts : NO_PARTS, chunk, start, end, bytes })
    if (this.#parts.length > 0) this.#parts = []
    this.#bytes = 0
  }

  /** The chunks were cut between the two bytes of a CRLF. */
  #dropCarriageReturn(): void {
    const last = this.#parts.at(-1)
    if (last?.at(-1) !== CARRIAGE_RETURN) return
    this.#parts[this.#parts.length - 1] = last.subarray(0, -1)
    this.#bytes--
  }
}
