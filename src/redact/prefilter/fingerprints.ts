import type { WorkLimit } from '../work-limit.ts'

/*
 * Finds values in texts without keeping the values. A value is recognised by eight of its characters, its window, and confirmed by
 * a hash of all its characters. A recorder that runs for weeks can remember hundreds of thousands of secrets in this way.
 */

/** Number of characters of a window, and length of the shortest value. */
export const WINDOW_LENGTH = 8
/** The window is one of the first. */
const MAX_WINDOW_OFFSET = 40
/** 131 is prime, so that the order of the characters counts. */
const BASE = 131
/** `BASE ** (WINDOW_LENGTH - 1)`, modulo 2 ** 32. */
const OUTGOING = Array.from({ length: WINDOW_LENGTH - 1 }).reduce<number>(
  (power) => Math.imul(power, BASE),
  1,
)

/** The hash of a window that has moved by one character. */
function rolled(hash: number, outgoing: number, incoming: number): number {
  return (Math.imul(hash - Math.imul(outgoing, OUTGOING), BASE) + incoming) | 0
}

/** Spreads similar hashes. Never returns 0. */
function mixed(hash: number, seed = 0): number {
  const seeded = hash ^ seed
  const once = Math.imul(seeded ^ (seeded >>> 15), 0x2c1b3c6d)
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
  return (twice ^ (twice >>> 15)) >>> 0 || 1
}

function firstHash(text: string): number {
  let hash = 0
  for (let at = 0; at < WINDOW_LENGTH; at++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0
  return hash
}

interface ValueWindow {
  readonly offset: number
  readonly hash: number
}

/** The windows of a value, sorted by hash: many values begin in the same way, such as `ghp_` or `https://`. */
function windowsOf(value: string, seed = 0): readonly ValueWindow[] {
  let rolling = firstHash(value)
  const windows = [{ offset: 0, hash: mixed(rolling, seed) }]
  const last = Math.min(value.length - WINDOW_LENGTH, MAX_WINDOW_OFFSET)
  for (let at = 1; at <= last; at++) {
    rolling = rolled(rolling, value.charCodeAt(at - 1), value.charCodeAt(at + WINDOW_LENGTH - 1))
    windows.push({ offset: at, hash: mixed(rolling, seed) })
  }
  return windows.toSorted((a, b) => a.hash - b.hash)
}

/** Says quickly whether bytes can contain one of many patterns. */
export class WindowFilter {
  readonly #bits = new Uint8Array(FILTER_BITS / 8)

  /** The pattern has one character per byte. */
  add(pattern: string): void {
    const { hash } = windowsOf(pattern)[0]!
    for (const bit of [firstBit(hash), secondBit(hash)]) this.#bits[bit >>> 3]! |= 1 << (bit & 7)
  }

  mayMatch(bytes: Uint8Array, start: number, end: number): boolean {
    let rolling = 0
    for (let at = start; at < end; at++) {
      const outgoing = at - start < WINDOW_LENGTH ? 0 : bytes[at - WINDOW_LENGTH]!
      rolling = rolled(rolling, outgoing, bytes[at]!)
      if (at - start < WINDOW_LENGTH - 1) continue
      const hash = mixed(rolling)
      if (this.#has(firstBit(hash)) && this.#has(secondBit(hash))) return true
    }
    return false
  }

  #has(bit: number): boolean {
    return ((this.#bits[bit >>> 3]! >> (bit & 7)) & 1) === 1
  }
}

/** 4 MB: with 100,000 values, one of some thousand windows of other texts passes. */
const FILTER_BITS = 1 << 25

function firstBit(hash: number): number {
  return hash & (FILTER_BITS - 1)
}

function secondBit(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> 7
}

/**
 * The fingerprints of the values that were added last: at least `GENERATION_SIZE`, at most twice as many. Values have at least
 * `WINDOW_LENGTH` characters.
 */
export class ValueFingerprints {
  readonly #seed: number
  #young: FingerprintTable
  #old: FingerprintTable | undefined

  /** The seed is a secret number. Who knows it can choose values that are slow to find. */
  constructor(seed: number) {
    this.#seed = seed
    this.#young = new FingerprintTable(seed)
  }

  has(value: string): boolean {
    return this.#young.has(value) || this.#old?.has(value) === true
  }

  /** Returns false if the value cannot be remembered, or is known already. */
  add(value: string): boolean {
    if (this.#young.has(value)) return false
    if (this.#young.count === GENERATION_SIZE) {
      this.#old = this.#young
      this.#young = new FingerprintTable(this.#seed)
    }
    return this.#young.add(value)
  }

  /** The places of the values in a text. Places that overlap are joined. */
  find(text: string, work?: WorkLimit): readonly TextRange[] {
    if (text.length < WINDOW_LENGTH) return []
    const hashes = new RangeHashes(text)
    return joinOverlapping([this.#young, this.#old].flatMap((table) => table?.find(text, hashes, work) ?? []))
  }
}

const GENERATION_SIZE = 250_000

/** A hash table, in columns. The slot of a value depends on its window. */
class FingerprintTable {
  count = 0
  readonly #seed: number
  #columns = emptyColumns(FIRST_SLOTS)

  constructor(seed: number) {
    this.#seed = seed
  }

  has(value: string): boolean {
    const found = this.find(value, new RangeHashes(value))
    return found.some(({ start, end }) => start === 0 && end === value.length)
  }

  add(value: string): boolean {
    if (this.count * 2 >= this.#columns.windows.length) this.#grow()
    const { windows, offsets, lengths, firstHashes, secondHashes } = this.#columns
    for (const { offset, hash } of windowsOf(value, this.#seed)) {
      const slot = freeSlot(windows, hash)
      if (slot === undefined) continue
      offsets[slot] = offset
      lengths[slot] = value.length
      ;[firstHashes[slot], secondHashes[slot]] = new RangeHashes(value).of(0, value.length)
      windows[slot] = hash // last, because a search can be interrupted
      this.count++
      return true
    }
    return false
  }

  find(text: string, hashes: RangeHashes, work?: WorkLimit): readonly TextRange[] {
    const found: TextRange[] = []
    const { windows, offsets, lengths } = this.#columns
    const mask = windows.length - 1
    let rolling = firstHash(text)
    for (let at = 0; ; at++) {
      const hash = mixed(rolling, this.#seed)
      for (let slot = hash & mask; windows[slot] !== 0; slot = (slot + 1) & mask) {
        const start = at - offsets[slot]!
        const end = start + lengths[slot]!
        if (windows[slot] !== hash || start < 0 || end > text.length) continue
        work?.spend(1)
        if (this.#confirms(slot, hashes.of(start, end))) found.push({ start, end })
      }
      if (at + WINDOW_LENGTH >= text.length) return found
      rolling = rolled(rolling, text.charCodeAt(at), text.charCodeAt(at + WINDOW_LENGTH))
    }
  }

  #confirms(slot: number, [first, second]: readonly [number, number]): boolean {
    const { firstHashes, secondHashes } = this.#columns
    return firstHashes[slot] === first && secondHashes[slot] === second
  }

  #grow(): void {
    const before = this.#columns
    const columns = emptyColumns(before.windows.length * 2)
    for (const [from, window] of before.windows.entries()) {
      const slot = window === 0 ? undefined : freeSlot(columns.windows, window)
      if (slot === undefined) continue
      columns.windows[slot] = window
      columns.offsets[slot] = before.offsets[from]!
      columns.lengths[slot] = before.lengths[from]!
      columns.firstHashes[slot] = before.firstHashes[from]!
      columns.secondHashes[slot] = before.secondHashes[from]!
    }
    this.#columns = columns
  }
}

interface FingerprintColumns {
  /** Hashes of windows; 0 for an empty slot. */
  readonly windows: Uint32Array
  readonly offsets: Uint8Array
  readonly lengths: Uint32Array
  readonly firstHashes: Uint32Array
  readonly secondHashes: Uint32Array
}

const FIRST_SLOTS = 1 << 12
const SECOND_BASE = 16_777_619
/** Bounds the time of a search. A value whose windows are all taken so often is not remembered: it hardly differs from the others. */
const MAX_VALUES_PER_WINDOW = 8

function emptyColumns(slots: number): FingerprintColumns {
  return {
    windows: new Uint32Array(slots),
    offsets: new Uint8Array(slots),
    lengths: new Uint32Array(slots),
    firstHashes: new Uint32Array(slots),
    secondHashes: new Uint32Array(slots),
  }
}

/** Returns undefined if too many values have this window. */
function freeSlot(windows: Uint32Array, window: number): number | undefined {
  const mask = windows.length - 1
  let same = 0
  let slot = window & mask
  for (; windows[slot] !== 0; slot = (slot + 1) & mask)
    if (windows[slot] === window && ++same === MAX_VALUES_PER_WINDOW) return undefined
  return slot
}

interface TextRange {
  readonly start: number
  readonly end: number
}

function joinOverlapping(ranges: readonly TextRange[]): readonly TextRange[] {
  const joined: TextRange[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last === undefined || range.start >= last.end) joined.push(range)
    else if (range.end > last.end) joined[joined.length - 1] = { start: last.start, end: range.end }
  }
  return joined
}

/** Hashes of any part of a text. Each takes the same time, however long the part is. */
class RangeHashes {
  readonly #text: string
  #first: BeginningHashes | undefined
  #second: BeginningHashes | undefined

  constructor(text: string) {
    this.#text = text
  }

  of(start: number, end: number): readonly [number, number] {
    this.#first ??= hashesOfBeginnings(this.#text, BASE)
    this.#second ??= hashesOfBeginnings(this.#text, SECOND_BASE)
    return [hashOfPart(this.#first, start, end), hashOfPart(this.#second, start, end)]
  }
}

interface BeginningHashes {
  /** The hash of the first n characters. */
  readonly hashes: Uint32Array
  /** The base to the power of n, modulo 2 ** 32. */
  readonly powers: Uint32Array
}

function hashesOfBeginnings(text: string, base: number): BeginningHashes {
  const hashes = new Uint32Array(text.length + 1)
  const powers = new Uint32Array(text.length + 1)
  powers[0] = 1
  for (let at = 0; at < text.length; at++) {
    hashes[at + 1] = Math.imul(hashes[at]!, base) + text.charCodeAt(at)
    powers[at + 1] = Math.imul(powers[at]!, base)
  }
  return { hashes, powers }
}

function hashOfPart({ hashes, powers }: BeginningHashes, start: number, end: number): number {
  return mixed(hashes[end]! - Math.imul(hashes[start]!, powers[end - start]!))
}
