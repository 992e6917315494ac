import { deflateSync } from 'node:zlib'
import type { Histogram } from '../histogram.ts'
import type { LoadInterval } from './load.ts'

/** Writes the response times of each second as a log of HdrHistogram (V2), which the plotters of that library read. */
export class HdrLog {
  readonly #lines: string[]
  readonly #started: number

  constructor(started: Date) {
    this.#started = started.getTime() / 1000
    this.#lines = [
      '#[Response times in microseconds, logged by reelay]',
      '#[Histogram log format version 1.3]',
      `#[StartTime: ${this.#started.toFixed(3)} (seconds since epoch), ${started.toISOString()}]`,
      '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
  }

  add({ at, totals }: LoadInterval, length: number): void {
    const { response } = totals.all()
    const start = this.#started + Math.max(0, at - length) / 1000
    const line = [start.toFixed(3), (length / 1000).toFixed(3), response.max.toFixed(3), encodeHdr(response)]
    this.#lines.push(line.join(','))
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`
  }
}

// The layout of HdrHistogram's V2 encoding. Values are whole microseconds with two significant digits.
const V2_COOKIE = 0x1c849303 | 0x10
const V2_COMPRESSED_COOKIE = 0x1c849304 | 0x10
const SIGNIFICANT_DIGITS = 2
const LOWEST = 1
const HIGHEST = 3_600_000_000 // an hour
const SUB_BUCKETS = 256
const HEADER_BYTES = 40

/** A histogram in the compressed V2 encoding of HdrHistogram, as base64. */
export function encodeHdr(histogram: Histogram): string {
  const counts = new Map<number, number>()
  for (const { upTo, count } of histogram.buckets()) {
    const place = placeOf(Math.max(0, Math.min(HIGHEST, Math.round(upTo * 1000) - 1)))
    counts.set(place, (counts.get(place) ?? 0) + count)
  }
  const payload = encodeCounts(counts)
  const plain = Buffer.alloc(HEADER_BYTES + payload.length)
  plain.writeInt32BE(V2_COOKIE, 0)
  plain.writeInt32BE(payload.length, 4)
  plain.writeInt32BE(0, 8) // normalizing index offset
  plain.writeInt32BE(SIGNIFICANT_DIGITS, 12)
  plain.writeBigInt64BE(BigInt(LOWEST), 16)
  plain.writeBigInt64BE(BigInt(HIGHEST), 24)
  plain.writeDoubleBE(1, 32) // conversion ratio
  payload.copy(plain, HEADER_BYTES)
  const compressed = deflateSync(plain)
  const head = Buffer.alloc(8)
  head.writeInt32BE(V2_COMPRESSED_COOKIE, 0)
  head.writeInt32BE(compressed.length, 4)
  return Buffer.concat([head, compressed]).toString('base64')
}

/** The index of a value in HdrHistogram's array of counts. */
function placeOf(value: number): number {
  const half = SUB_BUCKETS / 2
  const bucket = Math.max(0, Math.floor(Math.log2(Math.max(1, value))) - Math.log2(SUB_BUCKETS) + 1)
  const within = Math.floor(value / 2 ** bucket)
  return (bucket + 1) * half + within - half
}

/** Counts as ZigZag LEB128 numbers; a negative number is a run of zeros. */
function encodeCounts(counts: ReadonlyMap<number, number>): Buffer {
  const bytes: number[] = []
  let next = 0
  for (const [place, count] of [...counts].toSorted(([a], [b]) => a - b)) {
    if (place > next) writeZigZag(bytes, next - place)
    writeZigZag(bytes, count)
    next = place + 1
  }
  return Buffer.from(bytes)
}

function writeZigZag(bytes: number[], value: number): void {
  let rest = value < 0 ? -2 * value - 1 : 2 * value
  while (rest >= 128) {
    bytes.push((rest % 128) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
}
