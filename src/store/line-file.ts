import { closeSync, openSync, readSync } from 'node:fs'
import { LONGEST_FRAME_BYTES } from './file/read.ts'

const BLOCK_BYTES = 256 * 1024
const MAX_BLOCKS = 16
const NEAR_BYTES = 32 * 1024

/**
 * A tape's file, of which single lines are read. Neighbours are often read one after the other: then a whole block is read, and
 * kept a while. A line that stands far from the last one is read alone.
 */
export class TapeLineFile {
  readonly #bytes: number
  readonly #blocks = new Map<number, Buffer>()
  #fd: number | undefined
  #lastAt = 0

  constructor(path: string, bytes: number) {
    this.#fd = openSync(path, 'r')
    this.#bytes = bytes
  }

  /** The bytes of a line; none when there is no such place in the file. */
  read(at: number, length: number): Buffer | undefined {
    const isInside = Number.isSafeInteger(at) && at > 0 && length > 0 && at + length <= this.#bytes
    if (!isInside || length > LONGEST_FRAME_BYTES) return undefined
    const block = Math.floor(at / BLOCK_BYTES)
    const start = at - block * BLOCK_BYTES
    const isNear = Math.abs(at - this.#lastAt) <= NEAR_BYTES || this.#blocks.has(block)
    this.#lastAt = at
    if (!isNear || start + length > BLOCK_BYTES) return this.#readAt(at, length)
    return this.#block(block)?.subarray(start, start + length)
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#blocks.clear()
  }

  #block(number: number): Buffer | undefined {
    const known = this.#blocks.get(number)
    if (known !== undefined) return known
    const at = number * BLOCK_BYTES
    const block = this.#readAt(at, Math.min(BLOCK_BYTES, this.#bytes - at))
    if (block === undefined) return undefined
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size < MAX_BLOCKS) break
      this.#blocks.delete(oldest)
    }
    this.#blocks.set(number, block)
    return block
  }

  #readAt(at: number, length: number): Buffer | undefined {
    if (this.#fd === undefined) return undefined
    const bytes = Buffer.allocUnsafeSlow(length)
    return readSync(this.#fd, bytes, 0, length, at) === length ? bytes : undefined
  }
}
