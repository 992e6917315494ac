import { closeSync, openSync, readSync } from 'node:fs'
import { LONGEST_FRAME_BYTES } from './read.ts'

/** A tape's file, of which single lines are read. */
export class LineFile {
  readonly #bytes: number
  #fd: number | undefined

  constructor(path: string, bytes: number) {
    this.#fd = openSync(path, 'r')
    this.#bytes = bytes
  }

  /** The bytes of a line; none when there is no such place in the file. */
  read(at: number, length: number): Buffer | undefined {
    const isInside = Number.isSafeInteger(at) && at > 0 && length > 0 && at + length <= this.#bytes
    if (this.#fd === undefined || !isInside || length > LONGEST_FRAME_BYTES) return undefined
    const bytes = Buffer.allocUnsafe(length)
    return readSync(this.#fd, bytes, 0, length, at) === length ? bytes : undefined
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}
