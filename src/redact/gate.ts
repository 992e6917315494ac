import type { ByteTest } from './surroundings.ts'

/** Something that bytes must hold before they are worth a close look. */
export interface GatePattern {
  readonly text: string
  /** Upper and lower case are the same. */
  readonly isAnyCase: boolean
  /** What must come right behind it. */
  readonly follow?: ByteTest | undefined
  /** What must not stand right before it. */
  readonly notAfter?: ByteTest | undefined
}

/**
 * Says whether a text can hold a secret at all: most hold none, and should cost next to nothing. Every second pair of
 * bytes is looked up in a table. Of three bytes of a pattern one pair is sure to be looked at, so a pair that no pattern
 * has takes two bytes out of the question at once.
 */
export class Gate {
  /** Of each pair of bytes: the kinds of bytes that stand behind it in a pattern, and before it. */
  readonly #neighbours = new Uint16Array(1 << 16)
  readonly #hashes = new Uint8Array(1 << HASH_BITS)
  readonly #entries = new Map<number, Entry[]>()
  readonly #single: number[] = []
  #isOpen = false

  /** From now on every text is worth a look. */
  open(): void {
    this.#isOpen = true
  }

  add(pattern: GatePattern): void {
    const bytes = bytesIn(pattern.text)
    if (bytes.length >= WINDOW) this.#addEntry(pattern, bytes)
    else if (bytes.length === 1) this.#single.push(bytes.charCodeAt(0))
    else this.open()
  }

  /** Whether a close look is needed. */
  stops(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    if (this.#isOpen) return true
    if (end - start < WINDOW) return false
    const first = start + ((bytes.byteOffset + start) & 1)
    const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset + first, (end - first) >> 1)
    if (this.#isAmong(pairs, bytes, first, start, end)) return true
    return this.#single.length > 0 && this.#single.some((byte) => bytes.subarray(start, end).includes(byte))
  }

  // Four lookups at a time: they do not wait for each other.
  #isAmong(pairs: Uint16Array, bytes: Uint8Array, first: number, start: number, end: number): boolean {
    const neighbours = this.#neighbours
    const rounded = pairs.length & ~3
    for (let at = 0; at < rounded; at += 4) {
      const one = neighbours[pairs[at]!]!
      const two = neighbours[pairs[at + 1]!]!
      const three = neighbours[pairs[at + 2]!]!
      const four = neighbours[pairs[at + 3]!]!
      if ((one | two | three | four) === 0) continue
      const place = first + at * STRIDE
      if (one !== 0 && this.#isNear(one, bytes, place, start, end)) return true
      if (two !== 0 && this.#isNear(two, bytes, place + STRIDE, start, end)) return true
      if (three !== 0 && this.#isNear(three, bytes, place + 2 * STRIDE, start, end)) return true
      if (four !== 0 && this.#isNear(four, bytes, place + 3 * STRIDE, start, end)) return true
    }
    for (let at = rounded; at < pairs.length; at++)
      if (this.#isNear(neighbours[pairs[at]!]!, bytes, first + at * STRIDE, start, end)) return true
    return false
  }

  #addEntry(pattern: GatePattern, bytes: string): void {
    const offset = rarestWindow(bytes)
    const one = bytes.charCodeAt(offset)
    const two = bytes.charCodeAt(offset + 1)
    const three = bytes.charCodeAt(offset + 2)
    this.#addPair(one, two, pattern.isAnyCase, 1 << (three & KIND))
    this.#addPair(two, three, pattern.isAnyCase, 1 << ((one & KIND) + BEFORE))
    const hash = hashOf(one, two, three)
    this.#hashes[hash] = 1
    const entry = { bytes, offset, pattern }
    const same = this.#entries.get(hash)
    if (same === undefined) this.#entries.set(hash, [entry])
    else same.push(entry)
  }

  #addPair(first: number, second: number, isAnyCase: boolean, neighbour: number): void {
    if (!isAnyCase) {
      this.#neighbours[pairOf(first, second)]! |= neighbour
      return
    }
    for (const one of casesOf(first))
      for (const other of casesOf(second)) this.#neighbours[pairOf(one, other)]! |= neighbour
  }

  /** Whether a pattern really stands around this pair: first by the kind of the third byte, which is cheap. */
  #isNear(neighbours: number, bytes: Uint8Array, pair: number, start: number, end: number): boolean {
    // To read outside of the bytes would make every read slow.
    const behind = pair + WINDOW <= end ? (neighbours >> (bytes[pair + 2]! & KIND)) & 1 : 0
    const before = pair > start ? (neighbours >> ((bytes[pair - 1]! & KIND) + BEFORE)) & 1 : 0
    if ((behind | before) === 0) return false
    return (
      (behind !== 0 && this.#isFrom(bytes, pair, start, end)) ||
      (before !== 0 && this.#isFrom(bytes, pair - 1, start, end))
    )
  }

  #isFrom(bytes: Uint8Array, at: number, start: number, end: number): boolean {
    const hash = hashOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)
    if (this.#hashes[hash] === 0) return false
    for (const entry of this.#entries.get(hash) ?? NONE) if (isAt(entry, bytes, at, start, end)) return true
    return false
  }
}

/** Two bytes, as this machine reads them at once. */
function pairOf(first: number, second: number): number {
  return IS_LITTLE_ENDIAN ? (second << 8) | first : (first << 8) | second
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Bytes are of eight kinds; the case of a letter makes no difference. */
const KIND = 7
/** Where the kinds of bytes before a pair stand. */
const BEFORE = 8
const NONE: readonly Entry[] = []

interface Entry {
  readonly pattern: GatePattern
  /** A character for each byte. */
  readonly bytes: string
  /** Where in it the three bytes stand by which it is found. */
  readonly offset: number
}

const encoder = new TextEncoder()
const WINDOW = 3
const STRIDE = 2
const HASH_BITS = 16
const HASH_MASK = (1 << HASH_BITS) - 1
/** So much of a pattern is compared; the close look compares the rest. */
const COMPARED = 32
const CASE = 0x20

/** The case of letters is not told apart here, which costs a few needless looks and nothing else. */
function hashOf(one: number, two: number, three: number): number {
  return ((one | CASE) * 9739 + (two | CASE) * 173 + (three | CASE)) & HASH_MASK
}

function isAt(entry: Entry, bytes: Uint8Array, at: number, start: number, end: number): boolean {
  const { bytes: wanted, offset, pattern } = entry
  const begin = at - offset
  const behind = begin + wanted.length
  if (begin < start || behind > end) return false
  for (let index = 0; index < wanted.length; index++)
    if (!isSame(bytes[begin + index]!, wanted.charCodeAt(index), pattern.isAnyCase)) return false
  const { follow, notAfter } = pattern
  if (notAfter?.(bytes, begin, end) === true) return false
  return follow === undefined || follow(bytes, behind, end)
}

function isSame(byte: number, wanted: number, isAnyCase: boolean): boolean {
  return byte === wanted || (isAnyCase && (byte | CASE) === (wanted | CASE))
}

/** Where the three bytes of a pattern begin whose pairs are the least common in texts. */
function rarestWindow(bytes: string): number {
  const last = Math.min(bytes.length - WINDOW, LOOKED_AT)
  let best = 0
  let least = Infinity
  let first = commonness(bytes.charCodeAt(0), bytes.charCodeAt(1))
  for (let at = 0; at <= last; at++) {
    const second = commonness(bytes.charCodeAt(at + 1), bytes.charCodeAt(at + 2))
    if (first + second < least) {
      best = at
      least = first + second
      if (least <= RARE) break
    }
    first = second
  }
  return best
}

const LOOKED_AT = 24
/** Rare enough to look no further: every recorder does this for hundreds of patterns before it hands the first message on. */
const RARE = 2
const LOWER_A = 0x61
const LETTER = 31

function commonness(first: number, second: number): number {
  if (first < LOWER_A || second < LOWER_A) return first === SPACE || second === SPACE ? 200 : 1
  const pair = COMMON[((first & LETTER) << 5) | (second & LETTER)]!
  return pair + RANKS[first & LETTER]! * RANKS[second & LETTER]!
}

const SPACE = 0x20
/** Of the letters: the higher, the more common. */
const RANKS = new Uint8Array(32).fill(2)
for (const [rank, letter] of encoder.encode('zxqjkgbvpywfmculdrhsnioate').entries())
  RANKS[letter & LETTER] = rank + 3
const COMMON = new Uint16Array(1024)
/** The most common pairs of letters, the commonest last. */
const COMMON_PAIRS =
  'ottauromsimabellchliceraeaneicrorihidemecoveleioouashasengnttostaralitisedofteorestindenatonreanerinheth'
for (let at = 0; at + 1 < COMMON_PAIRS.length; at += 2)
  COMMON[((COMMON_PAIRS.charCodeAt(at) & LETTER) << 5) | (COMMON_PAIRS.charCodeAt(at + 1) & LETTER)] =
    500 + at * 10

function casesOf(byte: number): readonly number[] {
  const isLetter = (byte | CASE) >= 0x61 && (byte | CASE) <= 0x7a
  return isLetter ? [byte | CASE, byte & ~CASE] : [byte]
}

/** The first bytes of a text, a character for each; most texts are ASCII, and are that already. */
function bytesIn(text: string): string {
  if (!NOT_ASCII.test(text)) return text.slice(0, COMPARED)
  return String.fromCharCode(...encoder.encode(text).subarray(0, COMPARED))
}

const NOT_ASCII = /[^\0-\x7f]/
