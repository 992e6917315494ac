/** Bytes in the pieces in which they came. Beyond a bound only the first piece is kept, to name them, and the length is counted. */
export class BoundedBytes {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get parts(): readonly Uint8Array[] {
    return this.#parts
  }

  /** How many bytes came, kept or not. */
  get length(): number {
    return this.#length
  }

  get isComplete(): boolean {
    return this.#length <= this.#maxBytes
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return
    this.#length += part.length
    if (this.isComplete) this.#parts.push(part)
    else this.#parts = [this.#parts[0] ?? part]
  }

  addAll({ parts, length }: BoundedBytes): void {
    for (const part of parts) this.add(part)
    this.#length += length - parts.reduce((sum, part) => sum + part.length, 0)
  }
}
