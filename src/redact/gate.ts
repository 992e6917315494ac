import { isAt, type Entry, type PatternKind, type Within } from './gate-entry.ts'
import * as tables from './gate-tables.ts'

/**
 * Says whether a text can hold a secret at all: most hold none, and should cost next to nothing. At every second byte a table
 * says whether this byte and the next two could stand in a pattern. Of four bytes of a pattern three are sure to be looked at so,
 * and of a pattern of three at least two.
 */
export class Gate {
  readonly #tables: tables.GateTables
  readonly #behind: Uint16Array
  readonly #firsts: Uint16Array
  readonly #entries: readonly (Entry | undefined)[]
  readonly #single: number[] = []
  #isOpen = false

  constructor(from: tables.GateTables) {
    this.#tables = from
    this.#behind = from.behind
    this.#firsts = from.firsts
    this.#entries = from.entries
  }

  /** From now on every text is worth a look. */
  open(): void {
    this.#isOpen = true
  }

  /** A pattern, with a character for each of its bytes: `bytesIn` makes that of a text. */
  add(pattern: string, kind: PatternKind): void {
    if (pattern.length === 1) this.#single.push(pattern.charCodeAt(0))
    else if (pattern.length < WINDOW || !this.#tables.add(pattern, kind)) this.open()
  }

  /** Whether a close look is needed. */
  stops(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    if (this.#isOpen) return true
    if (end - start < WINDOW) return false
    if (this.#isAmong(bytes, start, end)) return true
    return this.#single.length > 0 && this.#single.some((byte) => bytes.subarray(start, end).includes(byte))
  }

  #isAmong(bytes: Uint8Array, start: number, end: number): boolean {
    const first = start + (-(bytes.byteOffset + start) & 3)
    const within = { first, start, end }
    const count = IS_LITTLE_ENDIAN ? (end - first) >> 2 : 0
    if (count < 3) return this.#isBetween(bytes, start, end, within)
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, count)
    const seen = (count - 1) & ~1
    return (
      this.#isBetween(bytes, start, first, within) ||
      this.#isInWords(words, seen, bytes, within) ||
      this.#isBetween(bytes, first + seen * WORD, end, within)
    )
  }

  /** Four lookups at a time, which do not wait for each other. */
  #isInWords(
    words: Int32Array,
    count: number,
    bytes: Uint8Array,
    within: Within & { first: number },
  ): boolean {
    const behind = this.#behind
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
      if (this.#isBetween(bytes, place, place + 2 * WORD, within, 2)) return true
    }
    return false
  }

  /** The same one by one. */
  #isBetween(bytes: Uint8Array, from: number, to: number, within: Within, step = 1): boolean {
    const last = Math.min(to, within.end - WINDOW + 1)
    for (let at = from; at < last; at += step) {
      const kinds = this.#behind[pairOf(bytes[at]!, bytes[at + 1]!)]!
      if (((kinds >> (bytes[at + 2]! & KIND)) & 1) === 0) continue
      if (this.#isFrom(bytes, at, within) || (at > within.start && this.#isFrom(bytes, at - 1, within)))
        return true
    }
    return false
  }

  /** Whether the rarest bytes of a pattern, and around them the pattern, stand here. */
  #isFrom(bytes: Uint8Array, at: number, within: Within): boolean {
    const three = hashOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)
    if (this.#isOneAt(three, bytes, at, within)) return true
    return at + WINDOW < within.end && this.#isOneAt(hashWith(three, bytes[at + WINDOW]!), bytes, at, within)
  }

  #isOneAt(hash: number, bytes: Uint8Array, at: number, within: Within): boolean {
    for (let which = this.#firsts[hash]!; which > 0;) {
      const entry = this.#entries[which - 1] ?? this.#tables.entry(which)
      if (isAt(entry, bytes, at, within)) return true
      which = entry.next
    }
    return false
  }
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const WORD = 4
// V8 reads what is imported anew each time, and what is a module's own it knows: the loops above feel it.
const { BYTE_KINDS: KIND, LEAST_BYTES: WINDOW, hashOf, hashWith, pairOf } = tables
