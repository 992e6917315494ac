import { entryMatchesAt, type PatternEntry, type PatternKind, type ScanRange } from './tables.ts'
import * as tables from './tables.ts'

/**
 * Says whether a text can hold a secret at all: most hold none, and should cost next to nothing. At every second byte a table
 * says whether this byte and the next two could stand in a pattern. Of four bytes of a pattern three are sure to be looked at so,
 * and of a pattern of three at least two.
 */
export class SecretPrefilter {
  readonly #tables: tables.PrefilterTables
  readonly #followers: Uint16Array
  readonly #firstEntries: Uint16Array
  readonly #entries: readonly (PatternEntry | undefined)[]
  readonly #singleBytes: number[] = []
  #acceptsAll = false

  constructor(from: tables.PrefilterTables) {
    this.#tables = from
    this.#followers = from.followers
    this.#firstEntries = from.firstEntries
    this.#entries = from.entries
  }

  /** From now on every text is worth a look. */
  acceptAll(): void {
    this.#acceptsAll = true
  }

  /** A pattern, with a character for each of its bytes: `bytesIn` makes that of a text. */
  add(pattern: string, kind: PatternKind): void {
    if (pattern.length === 1) this.#singleBytes.push(pattern.charCodeAt(0))
    else if (pattern.length < WINDOW || !this.#tables.add(pattern, kind)) this.acceptAll()
  }

  /** Whether a close look is needed. */
  mayMatch(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    if (this.#acceptsAll) return true
    if (end - start < WINDOW) return false
    if (this.#scan(bytes, start, end)) return true
    return (
      this.#singleBytes.length > 0 &&
      this.#singleBytes.some((byte) => bytes.subarray(start, end).includes(byte))
    )
  }

  #scan(bytes: Uint8Array, start: number, end: number): boolean {
    const first = start + (-(bytes.byteOffset + start) & 3)
    const within = { first, start, end }
    const count = IS_LITTLE_ENDIAN ? (end - first) >> 2 : 0
    if (count < 3) return this.#scanBytes(bytes, start, end, within)
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, count)
    const seen = (count - 1) & ~1
    return (
      this.#scanBytes(bytes, start, first, within) ||
      this.#scanWords(words, seen, bytes, within) ||
      this.#scanBytes(bytes, first + seen * WORD, end, within)
    )
  }

  /** Four lookups at a time, which do not wait for each other. */
  #scanWords(
    words: Int32Array,
    count: number,
    bytes: Uint8Array,
    within: ScanRange & { first: number },
  ): boolean {
    const behind = this.#followers
    let word = words[0]!
    for (let at = 0; at < count; at += 2) {
      const next = words[at + 1]!
      const after = words[at + 2]!
      const found =
        (behind[word & 0xffff]! >> ((word >>> 16) & KIND)) |
        (behind[word >>> 16]! >> (next & KIND)) |
        (behind[next & 0xffff]! >> ((next >>> 16) & KIND)) |
        (behind[next >>> 16]! >> (after & KIND))
      word = after
      if ((found & 1) === 0) continue
      const place = within.first + at * WORD
      if (this.#scanBytes(bytes, place, place + 2 * WORD, within, 2)) return true
    }
    return false
  }

  /** The same one by one. */
  #scanBytes(bytes: Uint8Array, from: number, to: number, within: ScanRange, step = 1): boolean {
    const last = Math.min(to, within.end - WINDOW + 1)
    for (let at = from; at < last; at += step) {
      const kinds = this.#followers[pairOf(bytes[at]!, bytes[at + 1]!)]!
      if (((kinds >> (bytes[at + 2]! & KIND)) & 1) === 0) continue
      if (this.#matchesAt(bytes, at, within) || (at > within.start && this.#matchesAt(bytes, at - 1, within)))
        return true
    }
    return false
  }

  /** Whether the rarest bytes of a pattern, and around them the pattern, stand here. */
  #matchesAt(bytes: Uint8Array, at: number, within: ScanRange): boolean {
    const three = hashOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)
    if (this.#matchesHashAt(three, bytes, at, within)) return true
    return (
      at + WINDOW < within.end && this.#matchesHashAt(hashWith(three, bytes[at + WINDOW]!), bytes, at, within)
    )
  }

  #matchesHashAt(hash: number, bytes: Uint8Array, at: number, within: ScanRange): boolean {
    for (let which = this.#firstEntries[hash]!; which > 0;) {
      const entry = this.#entries[which - 1] ?? this.#tables.entry(which)
      if (entryMatchesAt(entry, bytes, at, within)) return true
      which = entry.next
    }
    return false
  }
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const WORD = 4
// V8 reads what is imported anew each time, and what is a module's own it knows: the loops above feel it.
const { BYTE_KINDS: KIND, LEAST_BYTES: WINDOW, hashOfThreeBytes: hashOf, hashWith, pairOf } = tables
