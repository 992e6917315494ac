import { isCanonicalScalar, isOfScalar, isText } from './json-scalars.ts'
import type { Range } from '../wire/members.ts'
import { mixed, rotated, type Hash64 } from './hash.ts'

const ROOM_BYTES = 4096

/**
 * Hashes JSON by its bytes, so that equal values have equal hashes whatever the order of their members. Nothing is parsed: each
 * string and number counts by its spelling. On a tape that may be any, so what is not spelled as `canonicalJson` does is refused;
 * whoever asked writes the value in canonical form then, and that has the same hash.
 */
export class JsonHash {
  /** For short texts, which most are: a buffer for each would take longer than its hash. */
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES)
  #bytes: Uint8Array = this.#room
  #end = 0
  #isCanonical = false
  #at = 0
  #low = 0
  #high = 0
  /** The keys of all objects that are open, to notice one that is there twice. */
  readonly #keys: number[] = []
  #meta: Range | undefined
  #name: Range | undefined
  #isEmpty = false
  #sketch = 0

  /** The hash of a text that `canonicalJson` has written. */
  ofCanonical(text: string): Hash64 {
    const bytes = text.length * MOST_UTF8_BYTES > ROOM_BYTES ? Buffer.from(text) : this.#room
    this.#begin(bytes, 0, bytes === this.#room ? this.#room.write(text) : bytes.length)
    this.#isCanonical = true
    this.#sketch = 0
    this.#value(0)
    return this.taken()
  }

  /** The hash of a list of values that have these. */
  ofList(items: readonly Hash64[]): Hash64 {
    let low = IN_ARRAY
    let high = ~IN_ARRAY
    for (const item of items) {
      low = mixed(rotated(low) ^ item.low)
      high = mixed(rotated(high) + item.high)
    }
    this.#is(low, high)
    return this.taken()
  }

  /**
   * Hashes the params that begin there, without their `_meta`, and gives where they end; -1 when they are no object, no JSON, or
   * spelled otherwise.
   */
  passParams(bytes: Uint8Array, start: number, end: number): number {
    this.#begin(bytes, start, end)
    this.#isCanonical = false
    this.#keys.length = 0
    this.#meta = undefined
    this.#name = undefined
    this.#sketch = 0
    return bytes[start] === OPEN_OBJECT && this.#object(PARAMS) ? this.#at : -1
  }

  /** Whether those params hold nothing but `_meta`. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** Where their `_meta` stands. */
  get meta(): Range | undefined {
    return this.#meta
  }

  /** Where the name of a tool or a prompt stands among them. */
  get name(): Range | undefined {
    return this.#name
  }

  /** A bit for each value in the params, or in the objects that they hold, of what was hashed last. */
  get sketch(): number {
    return this.#sketch >>> 0
  }

  /** What was hashed last. */
  taken(): Hash64 {
    return { low: this.#low >>> 0, high: this.#high >>> 0 }
  }

  #begin(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  #value(depth: number): boolean {
    const byte = this.#bytes[this.#at]
    if (byte === QUOTE) return this.#string()
    if (byte === OPEN_OBJECT) return depth < DEEPEST ? this.#object(depth) : this.#deep()
    if (byte === OPEN_ARRAY) return depth < DEEPEST ? this.#array(depth) : this.#deep()
    return this.#scalar()
  }

  #string(): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let low = IN_STRING
    let high = ~IN_STRING
    let at = this.#at + 1
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
    this.#at = at + 1
    return this.#is(low, high)
  }

  #object(depth: number): boolean {
    let low = IN_OBJECT
    let high = ~IN_OBJECT
    const firstKey = this.#keys.length
    this.#at++
    let members = 0
    if (this.#passes(CLOSE_OBJECT)) return this.#closed(low, high, members)
    do {
      if (this.#bytes[this.#at] !== QUOTE || !this.#string() || !this.#isNew(firstKey)) return false
      const keyLow = this.#low
      const keyHigh = this.#high
      const keyEnd = this.#at
      const sketch = this.#sketch
      if (!this.#passes(COLON) || !this.#value(depth + 1)) return false
      if (depth === PARAMS && this.#isMeta(keyEnd)) {
        this.#sketch = sketch
        continue
      }
      members++
      const pair = mixed(rotated(keyLow) ^ this.#low)
      if (depth === PARAMS + 1 || (depth === PARAMS && this.#bytes[this.#at - 1] !== CLOSE_OBJECT))
        this.#sketch |= 1 << pair
      low = (low + pair) | 0
      high = (high + mixed(rotated(keyHigh) + this.#high)) | 0
    } while (this.#passes(COMMA))
    this.#keys.length = firstKey
    return this.#passes(CLOSE_OBJECT) && this.#closed(low, high, members)
  }

  /** Of the objects that are open, the params are closed last. */
  #closed(low: number, high: number, members: number): true {
    this.#isEmpty = members === 0
    return this.#is(low, high)
  }

  /** Whether the member of the params that ends here is `_meta`, which does not count. */
  #isMeta(keyEnd: number): boolean {
    if (this.#isCanonical) return false
    const value = { start: keyEnd + 1, end: this.#at }
    if (this.#isKey(keyEnd, NAME_KEY)) this.#name = value
    if (!this.#isKey(keyEnd, META_KEY)) return false
    this.#meta = value
    return true
  }

  // A quote behind a backslash stands inside of a longer key.
  #isKey(end: number, key: Buffer): boolean {
    const start = end - key.length
    return isText(this.#bytes, start, key) && this.#bytes[start - 1] !== BACKSLASH
  }

  #array(depth: number): boolean {
    let low = IN_ARRAY
    let high = ~IN_ARRAY
    this.#at++
    if (this.#passes(CLOSE_ARRAY)) return this.#is(low, high)
    do {
      if (!this.#value(depth + 1)) return false
      low = mixed(rotated(low) ^ this.#low)
      high = mixed(rotated(high) + this.#high)
    } while (this.#passes(COMMA))
    return this.#passes(CLOSE_ARRAY) && this.#is(low, high)
  }

  #scalar(): boolean {
    const start = this.#at
    let low = IN_SCALAR
    let high = ~IN_SCALAR
    for (let byte = this.#bytes[this.#at]; isOfScalar(byte) && this.#at < this.#end;) {
      low = Math.imul(low ^ byte, FACTOR_LOW)
      high = Math.imul(high + byte, FACTOR_HIGH)
      byte = this.#bytes[++this.#at]
    }
    return (this.#isCanonical || isCanonicalScalar(this.#bytes, start, this.#at)) && this.#is(low, high)
  }

  /** What nests deeper than a stack should: in canonical form its bytes say all, up to the end of the text. */
  #deep(): boolean {
    if (!this.#isCanonical) return false
    let low = IN_SCALAR
    let high = ~IN_SCALAR
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#bytes[this.#at] ?? 0
      low = Math.imul(low ^ byte, FACTOR_LOW)
      high = Math.imul(high + byte, FACTOR_HIGH)
    }
    return this.#is(low, high)
  }

  #isNew(firstKey: number): boolean {
    if (this.#isCanonical) return true
    const keys = this.#keys
    if (keys.length - firstKey === MOST_KEYS) return false
    for (let i = firstKey; i < keys.length; i++) if (keys[i] === this.#low) return false
    keys.push(this.#low)
    return true
  }

  #passes(byte: number): boolean {
    const isThere = this.#bytes[this.#at] === byte && this.#at < this.#end
    if (isThere) this.#at++
    return isThere
  }

  #is(low: number, high: number): true {
    this.#low = mixed(low ^ high)
    this.#high = mixed(high + Math.imul(low, 5))
    return true
  }
}

const [QUOTE, BACKSLASH, SPACE, COMMA, COLON] = [0x22, 0x5c, 0x20, 0x2c, 0x3a]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
const [IN_STRING, IN_OBJECT, IN_ARRAY, IN_SCALAR] = [0x9e3779b9, 0x2545f491, 0x4cf5ad43, 0x1b873593]
const FACTOR_LOW = 0x01000193
const FACTOR_HIGH = 0xc2b2ae35
const DEEPEST = 64
const MOST_UTF8_BYTES = 3
/** Params stand in a list, in a key. */
const PARAMS = 1
const META_KEY = Buffer.from('"_meta"')
const NAME_KEY = Buffer.from('"name"')
const MOST_KEYS = 32

function isShortEscape(byte: number): boolean {
  return SHORT_ESCAPES.has(byte)
}

const SHORT_ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\bfnrt'))
