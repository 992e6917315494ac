import type { WorkLimit } from '../work-limit.ts'

// A small reader of gzip and zlib data, because redaction also runs in a browser and must not wait. It is only used for base64 that
// begins like compressed data.

/** How compressed data is wrapped. */
export type CompressedForm = 'gzip' | 'zlib'

/** Recognises compressed data by its first bytes. */
export function compressedFormOf(first = 0, second = 0, third = 0): CompressedForm | undefined {
  if (first === 0x1f && second === 0x8b && third === DEFLATE) return 'gzip'
  return first === 0x78 && (first * 256 + second) % 31 === 0 && (second & PRESET_DICTIONARY) === 0
    ? 'zlib'
    : undefined
}

const DEFLATE = 8
const PRESET_DICTIONARY = 0x20

/** Decompresses data. Returns `undefined` if it is damaged. Data that is cut off gives what is there. */
export function decompress(bytes: Uint8Array, form: CompressedForm, work: WorkLimit): Uint8Array | undefined {
  const start = form === 'zlib' ? 2 : gzipHeaderLength(bytes)
  return start === undefined ? undefined : new Inflater(bytes, start, work).run()
}

/** Wraps data in the same form, without compressing it, so that the same data always gives the same bytes. */
export function wrapUncompressed(data: Uint8Array, form: CompressedForm): Uint8Array {
  const head = form === 'gzip' ? [0x1f, 0x8b, DEFLATE, 0, 0, 0, 0, 0, 0, 0xff] : [0x78, 0x01]
  const out: number[] = [...head]
  for (let at = 0; at === 0 || at < data.length; at += MAX_STORED) {
    const part = data.subarray(at, at + MAX_STORED)
    const isLast = at + MAX_STORED >= data.length ? 1 : 0
    out.push(isLast, part.length & 255, part.length >> 8, ~part.length & 255, (~part.length >> 8) & 255)
    for (const byte of part) out.push(byte)
  }
  if (form === 'gzip') out.push(...littleEndian(crc32(data)), ...littleEndian(data.length))
  else out.push(...littleEndian(adler32(data)).toReversed())
  return Uint8Array.from(out)
}

/** Returns true for the result of `wrapUncompressed`, whose bytes show the data again. */
export function isWrappedUncompressed(bytes: Uint8Array, data: Uint8Array, form: CompressedForm): boolean {
  const blocks = Math.max(1, Math.ceil(data.length / MAX_STORED))
  const around = form === 'gzip' ? 18 : 6
  if (bytes.length !== data.length + 5 * blocks + around) return false
  return wrapUncompressed(data, form).every((byte, at) => byte === bytes[at])
}

const MAX_STORED = 0xffff

function littleEndian(value: number): readonly number[] {
  return [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24]
}

function crc32(data: Uint8Array): number {
  let crc = -1
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1))
  }
  return ~crc >>> 0
}

function adler32(data: Uint8Array): number {
  let [low, high] = [1, 0]
  for (const byte of data) {
    low = (low + byte) % 65521
    high = (high + low) % 65521
  }
  return ((high << 16) | low) >>> 0
}

/** Length of the header of a gzip file, with its optional fields. */
function gzipHeaderLength(bytes: Uint8Array): number | undefined {
  const flags = bytes[3] ?? 0
  let at = 10
  if ((flags & 4) !== 0) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0)
  for (const flag of [8, 16])
    if ((flags & flag) !== 0) {
      const end = bytes.indexOf(0, at)
      if (end < 0) return undefined
      at = end + 1
    }
  return (flags & 2) === 0 ? at : at + 2
}

/** A table of prefix codes: how many codes have each length, and the symbols in the order of their codes. */
interface PrefixCodes {
  readonly counts: Uint16Array
  readonly symbols: Uint16Array
}

/** Reads deflate data as RFC 1951 describes it. */
class Inflater {
  readonly #bytes: Uint8Array
  readonly #work: WorkLimit
  #at: number
  #bits = 0
  #bitCount = 0
  #out = new Uint8Array(4096)
  #length = 0

  constructor(bytes: Uint8Array, start: number, work: WorkLimit) {
    this.#bytes = bytes
    this.#at = start
    this.#work = work
  }

  run(): Uint8Array | undefined {
    for (let isLast = false; !isLast;) {
      isLast = this.#take(1) === 1
      const kind = this.#take(2)
      const isWhole = kind === 0 ? this.#copyStored() : kind < 3 && this.#inflateBlock(kind)
      if (!isWhole && !this.#isAtEnd) return undefined
      if (this.#isAtEnd) break
    }
    return this.#out.subarray(0, this.#length)
  }

  /** True if the data ended too early. */
  get #isAtEnd(): boolean {
    return this.#at > this.#bytes.length
  }

  #take(count: number): number {
    while (this.#bitCount < count) {
      this.#bits |= (this.#bytes[this.#at++] ?? 0) << this.#bitCount
      this.#bitCount += 8
    }
    const value = this.#bits & ((1 << count) - 1)
    this.#bits >>>= count
    this.#bitCount -= count
    return value
  }

  #copyStored(): boolean {
    this.#bits = this.#bitCount = 0
    const [low = 0, high = 0] = this.#bytes.subarray(this.#at, this.#at + 2)
    const start = this.#at + 4
    const part = this.#bytes.subarray(start, start + low + 256 * high)
    for (const byte of part) this.#push(byte)
    this.#at = start + low + 256 * high
    return true
  }

  #inflateBlock(kind: number): boolean {
    const codes = kind === 1 ? fixedCodes() : this.#readCodes()
    if (codes === undefined) return false
    for (;;) {
      const symbol = this.#symbol(codes.literals)
      if (symbol === END_OF_BLOCK) return true
      if (symbol < 0 || this.#isAtEnd) return false
      if (symbol < END_OF_BLOCK) this.#push(symbol)
      else if (!this.#copy(symbol - END_OF_BLOCK - 1, codes.distances)) return false
    }
  }

  /** Repeats earlier output. */
  #copy(lengthCode: number, distances: PrefixCodes): boolean {
    if (lengthCode >= LENGTHS.length) return false
    const length = LENGTHS[lengthCode]! + this.#take(LENGTH_BITS[lengthCode]!)
    const code = this.#symbol(distances)
    if (code < 0 || code >= DISTANCES.length) return false
    const from = this.#length - (DISTANCES[code]! + this.#take(DISTANCE_BITS[code]!))
    if (from < 0) return false
    for (let at = 0; at < length; at++) this.#push(this.#out[from + at]!)
    return true
  }

  #readCodes(): { readonly literals: PrefixCodes; readonly distances: PrefixCodes } | undefined {
    const literalCount = this.#take(5) + 257
    const distanceCount = this.#take(5) + 1
    const lengths = new Uint8Array(19)
    const count = this.#take(4) + 4
    for (let at = 0; at < count; at++) lengths[CODE_LENGTH_ORDER[at]!] = this.#take(3)
    const codes = prefixCodes(lengths)
    const all = new Uint8Array(literalCount + distanceCount)
    for (let at = 0; at < all.length;) {
      const symbol = this.#symbol(codes)
      if (symbol < 0 || this.#isAtEnd) return undefined
      if (symbol < 16) {
        all[at++] = symbol
        continue
      }
      const repeated = symbol === 16 ? (all[at - 1] ?? 0) : 0
      const times = symbol === 16 ? 3 + this.#take(2) : symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7)
      all.fill(repeated, at, at + times)
      at += times
    }
    return {
      literals: prefixCodes(all.subarray(0, literalCount)),
      distances: prefixCodes(all.subarray(literalCount)),
    }
  }

  /** Reads a code bit by bit. Returns -1 if there is no such code. */
  #symbol({ counts, symbols }: PrefixCodes): number {
    let [code, first, index] = [0, 0, 0]
    for (let length = 1; length <= LONGEST_CODE; length++) {
      code |= this.#take(1)
      const count = counts[length]!
      if (code - count < first) return symbols[index + (code - first)]!
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    return -1
  }

  #push(byte: number): void {
    if (this.#length === this.#out.length) {
      this.#work.spend(this.#length)
      const longer = new Uint8Array(2 * this.#length)
      longer.set(this.#out)
      this.#out = longer
    }
    this.#out[this.#length++] = byte
  }
}

function prefixCodes(lengths: Uint8Array): PrefixCodes {
  const counts = new Uint16Array(LONGEST_CODE + 1)
  for (const length of lengths) counts[length]!++
  counts[0] = 0
  const offsets = new Uint16Array(LONGEST_CODE + 2)
  for (let length = 1; length <= LONGEST_CODE; length++)
    offsets[length + 1] = offsets[length]! + counts[length]!
  const symbols = new Uint16Array(lengths.length)
  for (const [symbol, length] of lengths.entries()) if (length > 0) symbols[offsets[length]!++] = symbol
  return { counts, symbols }
}

function fixedCodes(): { readonly literals: PrefixCodes; readonly distances: PrefixCodes } {
  const lengths = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280)
  return { literals: prefixCodes(lengths), distances: prefixCodes(new Uint8Array(30).fill(5)) }
}

const LONGEST_CODE = 15
const END_OF_BLOCK = 256
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const [LENGTHS, LENGTH_BITS] = codeTable(29, 3, 4, 258)
const [DISTANCES, DISTANCE_BITS] = codeTable(30, 1, 2, undefined)

/** The first value and the number of further bits for each code. Each group of codes has one bit more than the group before. */
function codeTable(
  count: number,
  first: number,
  group: number,
  last: number | undefined,
): readonly [readonly number[], readonly number[]] {
  const bits = Array.from({ length: count }, (_, code) => Math.max(0, Math.floor(code / group) - 1))
  let value = first
  const values = bits.map((each) => (value += 2 ** each) - 2 ** each)
  if (last === undefined) return [values, bits]
  return [
    [...values.slice(0, -1), last],
    [...bits.slice(0, -1), 0],
  ]
}
