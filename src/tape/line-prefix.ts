import type { Direction } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import type { FrameOrigin, SseFields } from './frame.ts'
import { readSse } from './codec.ts'

/** The beginning of a line, up to its payload. */
export interface LinePrefix extends Omit<FrameOrigin, 'x'> {
  readonly x: number | undefined
  readonly sse: SseFields | undefined
  readonly payload: 'msg' | 'stderr' | 'http' | 'raw'
  /** The position of the payload's value. */
  readonly payloadStart: number
}

/** Reads the beginning of a line by its bytes. Returns `undefined` for any spelling but the recorder's, which `decodeFrame` reads. */
export class LinePrefixScanner {
  #bytes: Uint8Array = new Uint8Array(0)
  #position = 0
  #server = ''
  #time = 0
  #sse: SseFields | undefined

  read(bytes: Uint8Array, start: number): LinePrefix | undefined {
    this.#bytes = bytes
    this.#position = start
    const n = this.#skip('{"n":') ? this.#readCount() : 0
    if (n === 0 || !this.#skip(',"t":') || !this.#readTime()) return undefined
    if (!this.#skip(',"server":"') || !this.#readServer()) return undefined
    const conn = this.#skip('","conn":') ? this.#readCount() : 0
    if (conn === 0) return undefined
    const x = this.#skip(',"x":') ? this.#readCount() : undefined
    if (x === 0 || !this.#skip(',"dir":"')) return undefined
    const dir = this.#readDirection()
    if (dir === undefined || !this.#readSse()) return undefined
    const payload = this.#readPayloadName()
    return payload === undefined
      ? undefined
      : {
          n,
          t: this.#time,
          server: this.#server,
          conn,
          x,
          dir,
          sse: this.#sse,
          payload,
          payloadStart: this.#position,
        }
  }

  #skip(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      if (this.#bytes[this.#position + i] !== text.charCodeAt(i)) return false
    }
    this.#position += text.length
    return true
  }

  /** Reads a positive integer. Returns 0 if there is none. */
  #readCount(): number {
    const start = this.#position
    const value = this.#readDigits()
    const isPlain = this.#bytes[start] !== ZERO && this.#position - start <= MAX_DIGITS
    return isPlain ? value : 0
  }

  #readDigits(): number {
    let value = 0
    for (let digit = this.#digit(); digit >= 0; digit = this.#digit()) {
      value = value * 10 + digit
      this.#position++
    }
    return value
  }

  #digit(): number {
    const byte = this.#bytes[this.#position] ?? 0
    return byte >= ZERO && byte <= ZERO + 9 ? byte - ZERO : -1
  }

  // With at most 15 digits both numbers are exact, so the quotient is the same as JSON.parse computes.
  #readTime(): boolean {
    const start = this.#position
    this.#time = this.#readDigits()
    const length = this.#position - start
    if (length === 0 || length > MAX_DIGITS || (this.#bytes[start] === ZERO && length > 1)) return false
    if (this.#bytes[this.#position] !== DOT) return true
    const point = this.#position++
    const decimals = this.#readDigits()
    const count = this.#position - point - 1
    const scale = 10 ** count
    this.#time = (this.#time * scale + decimals) / scale
    return count > 0 && length + count <= MAX_DIGITS
  }

  // Most lines have the same server as the line before.
  #readServer(): boolean {
    const start = this.#position
    if (this.#skip(this.#server) && this.#bytes[this.#position] === QUOTE) return true
    const end = this.#bytes.indexOf(QUOTE, start)
    if (end < 0 || !isPlainAscii(this.#bytes, start, end)) return false
    this.#server = String.fromCharCode(...this.#bytes.subarray(start, end))
    this.#position = end
    return true
  }

  #readDirection(): Direction | undefined {
    if (this.#skip('c2s"')) return 'c2s'
    return this.#skip('s2c"') ? 's2c' : undefined
  }

  #readSse(): boolean {
    this.#sse = undefined
    if (!this.#skip(',"sse":{')) return true
    const start = this.#position - 1
    const end = this.#bytes.indexOf(CLOSE, start)
    if (end < 0 || !isPlainAscii(this.#bytes, start, end, BACKSLASH)) return false
    const text = String.fromCharCode(...this.#bytes.subarray(start, end + 1))
    this.#position = end + 1
    const read = readSse(parseJson(text) ?? null)
    if (typeof read === 'string') return false
    this.#sse = read.sse
    return text.lastIndexOf('{') === 0
  }

  #readPayloadName(): LinePrefix['payload'] | undefined {
    return PAYLOADS.find((payload) => this.#skip(PAYLOAD_PREFIX[payload]))
  }
}

const PAYLOADS = ['msg', 'stderr', 'http', 'raw'] as const
const PAYLOAD_PREFIX = { msg: ',"msg":', stderr: ',"stderr":', http: ',"http":', raw: ',"raw":' } as const
const MAX_DIGITS = 15
const [ZERO, DOT, QUOTE, BACKSLASH, CLOSE] = [0x30, 0x2e, 0x22, 0x5c, 0x7d]
const MAX_NAME_LENGTH = 4096

// Escapes and characters that are not allowed are left to `decodeFrame`.
function isPlainAscii(bytes: Uint8Array, start: number, end: number, allowed = 0): boolean {
  if (end - start > MAX_NAME_LENGTH) return false
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < 0x20 || byte > 0x7e || (byte === BACKSLASH && allowed !== BACKSLASH)) return false
  }
  return true
}
