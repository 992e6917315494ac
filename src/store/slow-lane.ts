/** Whole lines that are written together. */
export interface Batch {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly frames: number
}

export interface SlowLaneOptions {
  /** Hands bytes to the kernel; throws when it does not take them. */
  readonly write: (pieces: readonly Uint8Array[]) => void
  readonly onWritten: (batch: Batch) => void
  /** The batch that failed, and all that waited behind it. */
  readonly onFailed: (batches: readonly Batch[], error: unknown) => void
}

/**
 * Batches that are too long to be written in one go: the link would stand still meanwhile. A slice is written in each round of
 * the event loop, so that what comes from the other side is handed on in between.
 */
export class SlowLane {
  readonly #options: SlowLaneOptions
  #batches: Batch[] = []
  #rest: Uint8Array[] = []
  #bytes = 0
  #isGoing = false

  constructor(options: SlowLaneOptions) {
    this.#options = options
  }

  /** What is not yet on the tape as whole lines. */
  get bytes(): number {
    return this.#bytes
  }

  add(batch: Batch): void {
    if (this.#batches.push(batch) === 1) this.#rest = [...batch.pieces]
    this.#bytes += batch.bytes
    if (this.#bytes > MOST_WAITING) this.drain()
    else this.#goOn()
  }

  /** Writes everything now. */
  drain(): void {
    while (this.#bytes > 0) this.#writeSlice(Infinity)
  }

  #goOn(): void {
    if (this.#isGoing || this.#bytes === 0) return
    this.#isGoing = true
    setImmediate(() => {
      this.#isGoing = false
      this.#writeSlice(SLICE_BYTES)
      this.#goOn()
    })
  }

  #writeSlice(most: number): void {
    const [batch] = this.#batches
    if (batch === undefined) return
    try {
      this.#options.write(this.#takeSlice(most))
    } catch (error) {
      return this.#fail(error)
    }
    if (this.#rest.length > 0) return
    this.#batches.shift()
    this.#rest = [...(this.#batches[0]?.pieces ?? [])]
    this.#bytes -= batch.bytes
    this.#options.onWritten(batch)
  }

  #takeSlice(most: number): readonly Uint8Array[] {
    const slice: Uint8Array[] = []
    for (let room = most; room > 0 && this.#rest.length > 0;) {
      const piece = this.#rest.shift()!
      slice.push(piece.subarray(0, room))
      if (piece.length > room) this.#rest.unshift(piece.subarray(room))
      room -= piece.length
    }
    return slice
  }

  #fail(error: unknown): void {
    const batches = this.#batches
    this.#batches = []
    this.#rest = []
    this.#bytes = 0
    this.#options.onFailed(batches, error)
  }
}

const SLICE_BYTES = 64 * 1024
const MOST_WAITING = 8 * 1024 * 1024
