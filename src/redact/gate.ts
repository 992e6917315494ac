import { COMPARED, isAt, type Entry, type PatternKind, type Within } from './gate-entry.ts'
import { rarestWindow } from './rare-window.ts'

/**
 * Says whether a text can hold a secret at all: most hold none, and should cost next to nothing. At every second byte a table
 * says whether this byte and the next two could stand in a pattern. Of four bytes of a pattern three are sure to be looked at so,
 * and of a pattern of three at least two.
 */
export class Gate {
  /** Of each pair of bytes: the kinds of bytes that stand behind it in a pattern. */
  readonly #behind = new Uint16Array(1 << 16)
  /** Of each hash of the rarest bytes of a pattern: which entry is the first that has it, counted from one. */
  readonly #firsts = new Uint16Array(1 << HASH_BITS)
  readonly #entries: Entry[] = []
  readonly #single: number[] = []
  #isOpen = false

  /** From now on every text is worth a look. */
  open(): void {
    this.#isOpen = true
  }

  /** A pattern, with a character for each of its bytes: `bytesIn` makes that of a text. */
  add(pattern: string, kind: PatternKind): void {
    const bytes = pattern.slice(0, COMPARED)
    if (bytes.length >= WINDOW) this.#addEntry(bytes, kind)
    else if (bytes.length === 1) this.#single.push(bytes.charCodeAt(0))
    else this.open()
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

  #addEntry(bytes: string, kind: PatternKind): void {
    const width = Math.min(bytes.length, WINDOW + 1)
    const offset = rarestWindow(bytes, width)
    const one = bytes.charCodeAt(offset)
    const two = bytes.charCodeAt(offset + 1)
    const three = bytes.charCodeAt(offset + 2)
    const four = width > WINDOW ? bytes.charCodeAt(offset + WINDOW) : undefined
    this.#addPair(one, two, kind.isAnyCase, 1 << (three & KIND))
    this.#addPair(two, three, kind.isAnyCase, four === undefined ? ANY_KIND : 1 << (four & KIND))
    const first = hashOf(one, two, three)
    const hash = four === undefined ? first : hashWith(first, four)
    if (this.#entries.length === MOST_ENTRIES) return this.open()
    this.#entries.push({ bytes, offset, kind, next: this.#firsts[hash]! })
    this.#firsts[hash] = this.#entries.length
  }

  #addPair(first: number, second: number, isAnyCase: boolean, kinds: number): void {
    const behind = this.#behind
    behind[pairOf(first, second)]! |= kinds
    if (!isAnyCase) return
    const [one, other] = [otherCase(first), otherCase(second)]
    behind[pairOf(one, second)]! |= kinds
    behind[pairOf(first, other)]! |= kinds
    behind[pairOf(one, other)]! |= kinds
  }

  /** Whether the rarest bytes of a pattern, and around them the pattern, stand here. */
  #isFrom(bytes: Uint8Array, at: number, within: Within): boolean {
    const three = hashOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)
    if (this.#isOneAt(three, bytes, at, within)) return true
    return at + WINDOW < within.end && this.#isOneAt(hashWith(three, bytes[at + WINDOW]!), bytes, at, within)
  }

  #isOneAt(hash: number, bytes: Uint8Array, at: number, within: Within): boolean {
    for (let which = this.#firsts[hash]!; which > 0;) {
      const entry = this.#entries[which - 1]!
      if (isAt(entry, bytes, at, within)) return true
      which = entry.next
    }
    return false
  }
}

/** Two bytes, as most machines read them at once. */
function pairOf(first: number, second: number): number {
  return (second << 8) | first
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Bytes are of sixteen kinds; the case of a letter makes no difference. */
const KIND = 15
const ANY_KIND = 0xffff
const WORD = 4

const WINDOW = 3
const HASH_BITS = 16
/** As many as can be told apart; with more, everything gets a close look. */
const MOST_ENTRIES = 0xffff
const HASH_MASK = (1 << HASH_BITS) - 1
const CASE = 0x20

/** The case of letters is not told apart here, which costs a few needless looks and nothing else. */
function hashOf(one: number, two: number, three: number): number {
  return ((one | CASE) * 9739 + (two | CASE) * 173 + (three | CASE)) & HASH_MASK
}

/** One byte more. */
function hashWith(hash: number, byte: number): number {
  return (hash * 31 + (byte | CASE)) & HASH_MASK
}

function otherCase(byte: number): number {
  const isLetter = (byte | CASE) >= 0x61 && (byte | CASE) <= 0x7a
  return isLetter ? byte ^ CASE : byte
}
