import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfDigits,
  hasTextAt,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
  ZERO,
  type JsonRange,
} from './scan.ts'

const BUFFER_BYTES = 4096

/** Keys of the hashed object that are treated specially, as JSON. */
interface SpecialKeys {
  /** This member does not count for the hash. */
  readonly skip: string
  /** The range of this member is noted. */
  readonly note: string
  /** These members do not count if their value is `null`. */
  readonly skipIfNull: readonly string[]
  /** These members do not count if their value is `{}`. */
  readonly skipIfEmpty: readonly string[]
}

const NO_SPECIAL_KEYS: SpecialKeys = { skip: '', note: '', skipIfNull: [], skipIfEmpty: [] }

/**
 * Hashes JSON by its bytes, without parsing it, so that equal values have equal hashes whatever the order of their members.
 * Strings and numbers count by their spelling. `hashMembers` therefore rejects values that `canonicalJson` would spell
 * differently; the caller then hashes their canonical text, which gives the same hash.
 */
export class JsonHasher {
  /** Most texts are short. Allocating a buffer for each would take longer than hashing it. */
  readonly #buffer = new Uint8Array(BUFFER_BYTES)
  #bytes: Uint8Array = this.#buffer
  #end = 0
  #isCanonical = false
  #position = 0
  #low = 0
  #high = 0
  /** The hashes of the keys of all open objects, to notice duplicates. */
  readonly #openKeys: number[] = []
  #keys = NO_SPECIAL_KEYS
  #skippedRange: JsonRange | undefined
  #notedRange: JsonRange | undefined
  #isEmpty = false
  #sketch = 0

  /** The hash of a text that `canonicalJson` has written. */
  hashCanonical(text: string): Hash64 {
    const isShort = text.length * MAX_UTF8_BYTES <= BUFFER_BYTES
    const bytes = isShort ? this.#buffer : encoder.encode(text)
    this.#begin(bytes, 0, isShort ? encoder.encodeInto(text, bytes).written : bytes.length)
    this.#isCanonical = true
    this.#sketch = 0
    this.#hashValue(0)
    return this.result()
  }

  /** The hash of an array, from the hashes of its items. */
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
   * Hashes the object that starts there, without its skipped members, and returns its end. Returns -1 for anything but an
   * object that is spelled like canonical JSON, apart from the order of its members.
   */
  hashMembers(bytes: Uint8Array, { start, end }: JsonRange, keys: SpecialKeys): number {
    this.#begin(bytes, start, end)
    this.#keys = keys
    this.#isCanonical = false
    this.#openKeys.length = 0
    this.#skippedRange = undefined
    this.#notedRange = undefined
    this.#sketch = 0
    return bytes[start] === OPEN_OBJECT && this.#hashObject(MEMBERS_DEPTH) ? this.#position : -1
  }

  /** The object had no members besides skipped ones. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** The range of the skipped member's value. */
  get skippedRange(): JsonRange | undefined {
    return this.#skippedRange
  }

  /** The range of the noted member's value. */
  get notedRange(): JsonRange | undefined {
    return this.#notedRange
  }

  /** A bit for each value in the last hashed object or in the objects that are its members. */
  get sketch(): number {
    return this.#sketch >>> 0
  }

  /** The hash of the last hashed value. */
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
      if (depth === MEMBERS_DEPTH && this.#noteMember(keyEnd)) {
        this.#sketch = sketch
        continue
      }
      members++
      const pair = mixBits(rotateBits(keyLow) ^ this.#low)
      if (
        depth === MEMBERS_DEPTH + 1 ||
        (depth === MEMBERS_DEPTH && this.#bytes[this.#position - 1] !== CLOSE_OBJECT)
      )
        this.#sketch |= 1 << pair
      low = (low + pair) | 0
      high = (high + mixBits(rotateBits(keyHigh) + this.#high)) | 0
    } while (this.#skip(COMMA))
    this.#openKeys.length = firstKey
    return this.#skip(CLOSE_OBJECT) && this.#closeObject(low, high, members)
  }

  // The outermost object is closed last, so `#isEmpty` is about it in the end.
  #closeObject(low: number, high: number, members: number): true {
    this.#isEmpty = members === 0
    return this.#setResult(low, high)
  }

  /** Returns `true` if the member that ends here is skipped. */
  #noteMember(keyEnd: number): boolean {
    if (this.#isCanonical) return false
    const value = { start: keyEnd + 1, end: this.#position }
    if (this.#isKey(keyEnd, this.#keys.note)) this.#notedRange = value
    if (this.#isKey(keyEnd, this.#keys.skip)) {
      this.#skippedRange = value
      return true
    }
    return this.#emptyValueKeys(value).some((key) => this.#isKey(keyEnd, key))
  }

  /** The keys whose members do not count with this value. */
  #emptyValueKeys({ start, end }: JsonRange): readonly string[] {
    if (end - start === EMPTY_OBJECT.length && hasTextAt(this.#bytes, start, EMPTY_OBJECT))
      return this.#keys.skipIfEmpty
    return end - start === NULL.length && hasTextAt(this.#bytes, start, NULL)
      ? this.#keys.skipIfNull
      : NO_KEYS
  }

  // A quote after a backslash belongs to a longer key.
  #isKey(end: number, key: string): boolean {
    const start = end - key.length
    return hasTextAt(this.#bytes, start, key) && this.#bytes[start - 1] !== BACKSLASH
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

  /** Hashes deep nesting as plain bytes up to the end of the text, to spare the stack. */
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

const [IN_STRING, IN_OBJECT, IN_ARRAY, IN_SCALAR] = [0x9e3779b9, 0x2545f491, 0x4cf5ad43, 0x1b873593]
const FACTOR_LOW = 0x01000193
const FACTOR_HIGH = 0xc2b2ae35
const MAX_HASH_DEPTH = 64
const MAX_UTF8_BYTES = 3
/** The hashed object is an item of an array, the key of a request. */
const MEMBERS_DEPTH = 1
const MAX_KEYS = 32
const encoder = new TextEncoder()
const EMPTY_OBJECT = '{}'
const NULL = 'null'
const NO_KEYS: readonly string[] = []

function isShortEscape(byte: number): boolean {
  return SHORT_ESCAPES.has(byte)
}

const SHORT_ESCAPES: ReadonlySet<number> = new Set(encoder.encode('"\\bfnrt'))

/** The byte occurs in numbers, `true`, `false` and `null`. */
function isScalarByte(byte: number | undefined): byte is number {
  if (byte === undefined || byte < 0x2b || byte > 0x7a) return false
  return byte >= 0x61 || (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x2b
}

/** A number or literal is spelled as in canonical JSON. */
function isCanonicalScalar(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (bytes[first] !== ZERO && endOfDigits(bytes, first, end) === end) return true
  if (LITERALS.some((text) => text.length === end - start && hasTextAt(bytes, start, text))) return true
  const text = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + MAX_SCALAR_LENGTH)))
  return Number.isFinite(Number(text)) && String(Number(text)) === text
}

const MINUS = 0x2d
const LITERALS = ['true', 'false', 'null']
// Canonical numbers are shorter.
const MAX_SCALAR_LENGTH = 32

/** A 64-bit hash. Different texts may have the same hash, so equal hashes do not prove equal texts. */
export interface Hash64 {
  readonly low: number
  readonly high: number
}

/** Two lanes of multiply and rotate, mixed at the end. For short texts this is faster than a call into a native library. */
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
