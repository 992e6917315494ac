import type { JsonRange } from './find.ts'

const BUFFER_BYTES = 4096

/**
 * Hashes JSON by its bytes, so that equal values have equal hashes whatever the order of their members. Nothing is parsed: each
 * string and number counts by its spelling. On a tape that may be any, so what is not spelled as `canonicalJson` does is refused;
 * whoever asked writes the value in canonical form then, and that has the same hash.
 */
export class JsonHasher {
  /** For short texts, which most are: a buffer for each would take longer than its hash. */
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #bytes: Uint8Array = this.#buffer
  #end = 0
  #isCanonical = false
  #position = 0
  #low = 0
  #high = 0
  /** The keys of all objects that are open, to notice one that is there twice. */
  readonly #openKeys: number[] = []
  #metaRange: JsonRange | undefined
  #nameRange: JsonRange | undefined
  #isEmpty = false
  #sketch = 0

  /** The hash of a text that `canonicalJson` has written. */
  hashCanonical(text: string): Hash64 {
    const bytes = text.length * MAX_UTF8_BYTES > BUFFER_BYTES ? Buffer.from(text) : this.#buffer
    this.#begin(bytes, 0, bytes === this.#buffer ? this.#buffer.write(text) : bytes.length)
    this.#isCanonical = true
    this.#sketch = 0
    this.#hashValue(0)
    return this.result()
  }

  /** The hash of a list of values that have these. */
  hashList(items: readonly Hash64[]): Hash64 {
    let low = IN_ARRAY
    let high = ~IN_ARRAY
    for (const item of items) {
      low = mixBits(rotateBits(low) ^ item.low)
      high = mixBits(rotateBits(high) + item.high)
    }
    this.#setResult(low, high)
    return this.result()
  }

  /**
   * Hashes the params that begin there, without their `_meta`, and gives where they end; -1 when they are no object, no JSON, or
   * spelled otherwise.
   */
  hashParams(bytes: Uint8Array, start: number, end: number): number {
    this.#begin(bytes, start, end)
    this.#isCanonical = false
    this.#openKeys.length = 0
    this.#metaRange = undefined
    this.#nameRange = undefined
    this.#sketch = 0
    return bytes[start] === OPEN_OBJECT && this.#hashObject(PARAMS_DEPTH) ? this.#position : -1
  }

  /** Whether those params hold nothing but `_meta`. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** Where their `_meta` stands. */
  get metaRange(): JsonRange | undefined {
    return this.#metaRange
  }

  /** Where the name of a tool or a prompt stands among them. */
  get nameRange(): JsonRange | undefined {
    return this.#nameRange
  }

  /** A bit for each value in the params, or in the objects that they hold, of what was hashed last. */
  get sketch(): number {
    return this.#sketch >>> 0
  }

  /** What was hashed last. */
  result(): Hash64 {
    return { low: this.#low >>> 0, high: this.#high >>> 0 }
  }

  #begin(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes
    this.#position = start
    this.#end = end
  }

  #hashValue(depth: number): boolean {
    const byte = this.#bytes[this.#position]
    if (byte === QUOTE) return this.#hashString()
    if (byte === OPEN_OBJECT) return depth < MAX_HASH_DEPTH ? this.#hashObject(depth) : this.#hashDeepValue()
    if (byte === OPEN_ARRAY) return depth < MAX_HASH_DEPTH ? this.#hashArray(depth) : this.#hashDeepValue()
    return this.#hashScalar()
  }

  #hashString(): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let low = IN_STRING
    let high = ~IN_STRING
    let at = this.#position + 1
    for (; bytes[at] !== QUOTE; at++) {
      let byte = bytes[at] ?? 0
      if (byte < SPACE || at >= end) return false
      if (byte === BACKSLASH) {
        byte = bytes[++at] ?? 0
        if (!this.#isCanonical && !isShortEscape(byte)) return false
        low = Math.imul(low ^ BACKSLASH, FACTOR_LOW)
        high = Math.imul(high + BACKSLASH, FACTOR_HIGH)
      }
      low = Math.imul(low ^ byte, FACTOR_LOW)
      high = Math.imul(high + byte, FACTOR_HIGH)
    }
    this.#position = at + 1
    return this.#setResult(low, high)
  }

  #hashObject(depth: number): boolean {
    let low = IN_OBJECT
    let high = ~IN_OBJECT
    const firstKey = this.#openKeys.length
    this.#position++
    let members = 0
    if (this.#skip(CLOSE_OBJECT)) return this.#closeObject(low, high, members)
    do {
      if (this.#bytes[this.#position] !== QUOTE || !this.#hashString() || !this.#isNewKey(firstKey))
        return false
      const keyLow = this.#low
      const keyHigh = this.#high
      const keyEnd = this.#position
      const sketch = this.#sketch
      if (!this.#skip(COLON) || !this.#hashValue(depth + 1)) return false
      if (depth === PARAMS_DEPTH && this.#noteParam(keyEnd)) {
        this.#sketch = sketch
        continue
      }
      members++
      const pair = mixBits(rotateBits(keyLow) ^ this.#low)
      if (
        depth === PARAMS_DEPTH + 1 ||
        (depth === PARAMS_DEPTH && this.#bytes[this.#position - 1] !== CLOSE_OBJECT)
      )
        this.#sketch |= 1 << pair
      low = (low + pair) | 0
      high = (high + mixBits(rotateBits(keyHigh) + this.#high)) | 0
    } while (this.#skip(COMMA))
    this.#openKeys.length = firstKey
    return this.#skip(CLOSE_OBJECT) && this.#closeObject(low, high, members)
  }

  /** Of the objects that are open, the params are closed last. */
  #closeObject(low: number, high: number, members: number): true {
    this.#isEmpty = members === 0
    return this.#setResult(low, high)
  }

  /** Whether the member of the params that ends here is `_meta`, which does not count. */
  #noteParam(keyEnd: number): boolean {
    if (this.#isCanonical) return false
    const value = { start: keyEnd + 1, end: this.#position }
    if (this.#isKey(keyEnd, NAME_KEY)) this.#nameRange = value
    if (!this.#isKey(keyEnd, META_KEY)) return false
    this.#metaRange = value
    return true
  }

  // A quote behind a backslash stands inside of a longer key.
  #isKey(end: number, key: Buffer): boolean {
    const start = end - key.length
    return hasBytesAt(this.#bytes, start, key) && this.#bytes[start - 1] !== BACKSLASH
  }

  #hashArray(depth: number): boolean {
    let low = IN_ARRAY
    let high = ~IN_ARRAY
    this.#position++
    if (this.#skip(CLOSE_ARRAY)) return this.#setResult(low, high)
    do {
      if (!this.#hashValue(depth + 1)) return false
      low = mixBits(rotateBits(low) ^ this.#low)
      high = mixBits(rotateBits(high) + this.#high)
    } while (this.#skip(COMMA))
    return this.#skip(CLOSE_ARRAY) && this.#setResult(low, high)
  }

  #hashScalar(): boolean {
    const start = this.#position
    let low = IN_SCALAR
    let high = ~IN_SCALAR
    for (let byte = this.#bytes[this.#position]; isScalarByte(byte) && this.#position < this.#end;) {
      low = Math.imul(low ^ byte, FACTOR_LOW)
      high = Math.imul(high + byte, FACTOR_HIGH)
      byte = this.#bytes[++this.#position]
    }
    return (
      (this.#isCanonical || isCanonicalScalar(this.#bytes, start, this.#position)) &&
      this.#setResult(low, high)
    )
  }

  /** What nests deeper than a stack should: in canonical form its bytes say all, up to the end of the text. */
  #hashDeepValue(): boolean {
    if (!this.#isCanonical) return false
    let low = IN_SCALAR
    let high = ~IN_SCALAR
    for (; this.#position < this.#end; this.#position++) {
      const byte = this.#bytes[this.#position] ?? 0
      low = Math.imul(low ^ byte, FACTOR_LOW)
      high = Math.imul(high + byte, FACTOR_HIGH)
    }
    return this.#setResult(low, high)
  }

  #isNewKey(firstKey: number): boolean {
    if (this.#isCanonical) return true
    const keys = this.#openKeys
    if (keys.length - firstKey === MAX_KEYS) return false
    for (let i = firstKey; i < keys.length; i++) if (keys[i] === this.#low) return false
    keys.push(this.#low)
    return true
  }

  #skip(byte: number): boolean {
    const isThere = this.#bytes[this.#position] === byte && this.#position < this.#end
    if (isThere) this.#position++
    return isThere
  }

  #setResult(low: number, high: number): true {
    this.#low = mixBits(low ^ high)
    this.#high = mixBits(high + Math.imul(low, 5))
    return true
  }
}

const [QUOTE, BACKSLASH, SPACE, COMMA, COLON] = [0x22, 0x5c, 0x20, 0x2c, 0x3a]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
const [IN_STRING, IN_OBJECT, IN_ARRAY, IN_SCALAR] = [0x9e3779b9, 0x2545f491, 0x4cf5ad43, 0x1b873593]
const FACTOR_LOW = 0x01000193
const FACTOR_HIGH = 0xc2b2ae35
const MAX_HASH_DEPTH = 64
const MAX_UTF8_BYTES = 3
/** Params stand in a list, in a key. */
const PARAMS_DEPTH = 1
const META_KEY = Buffer.from('"_meta"')
const NAME_KEY = Buffer.from('"name"')
const MAX_KEYS = 32

function isShortEscape(byte: number): boolean {
  return SHORT_ESCAPES.has(byte)
}

const SHORT_ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\bfnrt'))

/** Whether a byte may stand in a number, `true`, `false` or `null`. */
function isScalarByte(byte: number | undefined): byte is number {
  if (byte === undefined || byte < 0x2b || byte > 0x7a) return false
  return byte >= 0x61 || (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x2b
}

const [ZERO, NINE, MINUS] = [0x30, 0x39, 0x2d]
const SAFE_DIGITS = 15

/** Whether a number or a literal is spelled as canonical JSON spells it. */
function isCanonicalScalar(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (isPlainNumber(bytes, first, end)) return true
  if (LITERALS.some((text) => text.length === end - start && hasBytesAt(bytes, start, text))) return true
  const text = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + MAX_SCALAR_LENGTH)))
  return Number.isFinite(Number(text)) && String(Number(text)) === text
}

const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text))
// No number is spelled longer.
const MAX_SCALAR_LENGTH = 32

function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] === ZERO || end === start || end - start > SAFE_DIGITS) return false
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > NINE || (bytes[at] ?? 0) < ZERO) return false
  return true
}

/** Whether these bytes stand there. */
function hasBytesAt(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false
  return true
}

/** 64 bits that stand for a text. Whoever finds something by them compares the text itself, too. */
export interface Hash64 {
  readonly low: number
  readonly high: number
}

/** Two lanes of multiply and rotate, mixed at the end: no call into another library for a text of a few hundred characters. */
export function hashText(text: string): Hash64 {
  let low = 0x9e3779b9 ^ text.length
  let high = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(rotateBits(low ^ code), 0x01000193)
    high = Math.imul(rotateBits(high + code), 0xc2b2ae35)
  }
  return { low: mixBits(low ^ high), high: mixBits(high + Math.imul(low, 5)) }
}

function rotateBits(bits: number): number {
  return (bits << 13) | (bits >>> 19)
}

function mixBits(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b)
  return (twice ^ (twice >>> 16)) >>> 0
}
