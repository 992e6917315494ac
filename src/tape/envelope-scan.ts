import type { Direction } from '../wire/direction.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { SseFields } from './frame.ts'
import { readSse } from './http-codec.ts'

/** The beginning of a line as the recorder writes it, up to its payload. */
export interface Envelope {
  readonly n: number
  readonly t: number
  readonly server: string
  readonly conn: number
  readonly x: number | undefined
  readonly dir: Direction
  readonly sse: SseFields | undefined
  readonly payload: 'msg' | 'stderr' | 'http' | 'raw'
  /** Where the payload's value begins. */
  readonly at: number
}

/** Reads envelopes by their bytes; whatever is not exactly what the recorder writes is left to `decodeFrame`. */
export class EnvelopeScan {
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #server = ''
  #time = 0
  #sse: SseFields | undefined

  read(bytes: Uint8Array, start: number): Envelope | undefined {
    this.#bytes = bytes
    this.#at = start
    const n = this.#has('{"n":') ? this.#count() : 0
    if (n === 0 || !this.#has(',"t":') || !this.#readTime()) return undefined
    if (!this.#has(',"server":"') || !this.#readServer()) return undefined
    const conn = this.#has('","conn":') ? this.#count() : 0
    if (conn === 0) return undefined
    const x = this.#has(',"x":') ? this.#count() : undefined
    if (x === 0 || !this.#has(',"dir":"')) return undefined
    const dir = this.#direction()
    if (dir === undefined || !this.#readSse()) return undefined
    const payload = this.#payload()
    return payload === undefined
      ? undefined
      : { n, t: this.#time, server: this.#server, conn, x, dir, sse: this.#sse, payload, at: this.#at }
  }

  #has(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      if (this.#bytes[this.#at + i] !== text.charCodeAt(i)) return false
    }
    this.#at += text.length
    return true
  }

  /** A whole number from 1 on; 0 when there is none. */
  #count(): number {
    const start = this.#at
    const value = this.#digits()
    const isPlain = this.#bytes[start] !== ZERO && this.#at - start <= MOST_DIGITS
    return isPlain ? value : 0
  }

  #digits(): number {
    let value = 0
    for (let digit = this.#digit(); digit >= 0; digit = this.#digit()) {
      value = value * 10 + digit
      this.#at++
    }
    return value
  }

  #digit(): number {
    const byte = this.#bytes[this.#at] ?? 0
    return byte >= ZERO && byte <= ZERO + 9 ? byte - ZERO : -1
  }

  // With so few digits both numbers are exact, and so is their quotient to the last bit.
  #readTime(): boolean {
    const start = this.#at
    this.#time = this.#digits()
    const length = this.#at - start
    if (length === 0 || length > MOST_DIGITS || (this.#bytes[start] === ZERO && length > 1)) return false
    if (this.#bytes[this.#at] !== DOT) return true
    const point = this.#at++
    const decimals = this.#digits()
    const count = this.#at - point - 1
    const scale = 10 ** count
    this.#time = (this.#time * scale + decimals) / scale
    return count > 0 && length + count <= MOST_DIGITS
  }

  // Most lines are of the server that the line before was of.
  #readServer(): boolean {
    const start = this.#at
    if (this.#has(this.#server) && this.#bytes[this.#at] === QUOTE) return true
    const end = this.#bytes.indexOf(QUOTE, start)
    if (end < 0 || !isPlainAscii(this.#bytes, start, end)) return false
    this.#server = String.fromCharCode(...this.#bytes.subarray(start, end))
    this.#at = end
    return true
  }

  #direction(): Direction | undefined {
    if (this.#has('c2s"')) return 'c2s'
    return this.#has('s2c"') ? 's2c' : undefined
  }

  #readSse(): boolean {
    this.#sse = undefined
    if (!this.#has(',"sse":{')) return true
    const start = this.#at - 1
    const end = this.#bytes.indexOf(CLOSE, start)
    if (end < 0 || !isPlainAscii(this.#bytes, start, end, BACKSLASH)) return false
    const text = String.fromCharCode(...this.#bytes.subarray(start, end + 1))
    this.#at = end + 1
    const read = readSse(parseJson(text) ?? null)
    if (typeof read === 'string') return false
    this.#sse = read.sse
    return text.lastIndexOf('{') === 0
  }

  #payload(): Envelope['payload'] | undefined {
    return PAYLOADS.find((payload) => this.#has(BEFORE[payload]))
  }
}

const PAYLOADS = ['msg', 'stderr', 'http', 'raw'] as const
const BEFORE = { msg: ',"msg":', stderr: ',"stderr":', http: ',"http":', raw: ',"raw":' } as const
const MOST_DIGITS = 15
const [ZERO, DOT, QUOTE, BACKSLASH, CLOSE] = [0x30, 0x2e, 0x22, 0x5c, 0x7d]
const LONGEST_NAME = 4096

// The rest is for `decodeFrame`, which knows of escapes and of characters that may not stand here.
function isPlainAscii(bytes: Uint8Array, start: number, end: number, allowed = 0): boolean {
  if (end - start > LONGEST_NAME) return false
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < 0x20 || byte > 0x7e || (byte === BACKSLASH && allowed !== BACKSLASH)) return false
  }
  return true
}
