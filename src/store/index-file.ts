import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { PagedColumn } from './number-column.ts'

/** The file of an index, of which single numbers are read. It may be anyone's, and it may change: what is not there is 0. */
export class IndexFile {
  readonly bytes: number
  #fd: number | undefined

  constructor(path: string) {
    const fd = openSync(path, 'r')
    this.#fd = fd
    this.bytes = fstatSync(fd).size
  }

  read(at: number, length: number): ArrayBuffer {
    const bytes = new ArrayBuffer(length)
    if (this.#fd !== undefined && length > 0) readSync(this.#fd, new Uint8Array(bytes), 0, length, at)
    return bytes
  }

  float64ColumnAt(at: number, length: number): PagedColumn {
    return new PagedColumn(
      length,
      (first, count) => new Float64Array(this.read(at + first * FLOAT64_BYTES, count * FLOAT64_BYTES)),
    )
  }

  uint32ColumnAt(at: number, length: number): PagedColumn {
    return new PagedColumn(
      length,
      (first, count) => new Uint32Array(this.read(at + first * UINT32_BYTES, count * UINT32_BYTES)),
    )
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

export const FLOAT64_BYTES = 8
export const UINT32_BYTES = 4
