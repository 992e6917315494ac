import { COMPARED, type Entry, type PatternKind } from './gate-entry.ts'
import { rarestWindow } from './rare-window.ts'

/** Tables that were filled before, in the form in which a program carries them. */
export interface GateImage {
  /** A line for each pattern. */
  readonly patterns: string
  /** Of each pattern: where its rarest bytes begin, the place of its kind in a list, and the next one of the same hash. */
  readonly entries: readonly number[]
  /** Pairs of bytes, each with the kinds of bytes that stand behind it. */
  readonly behind: readonly number[]
  /** Hashes, each with the first entry that has it. */
  readonly firsts: readonly number[]
}

/** By how many bytes at least a pattern is found. */
export const LEAST_BYTES = 3
/** Bytes are of sixteen kinds; the case of a letter makes no difference. */
export const BYTE_KINDS = 15

/** What a gate compares bytes with. */
export class GateTables {
  /** Of each pair of bytes: the kinds of bytes that stand behind it in a pattern. */
  readonly behind: Uint16Array = new Uint16Array(1 << 16)
  /** Of each hash of the rarest bytes of a pattern: which entry is the first that has it, counted from one. */
  readonly firsts: Uint16Array = new Uint16Array(1 << HASH_BITS)
  /** Those of an image are made when they are first asked for: a recorder that meets no secret needs few. */
  readonly entries: (Entry | undefined)[] = []
  readonly #kinds: readonly PatternKind[]
  readonly #image: GateImage | undefined
  #patterns: readonly string[] | undefined

  constructor(image?: GateImage, kinds: readonly PatternKind[] = []) {
    this.#image = image
    this.#kinds = kinds
    if (image === undefined) return
    fill(this.behind, image.behind)
    fill(this.firsts, image.firsts)
    this.entries.length = image.entries.length / NUMBERS
  }

  /** One of them, counted from one. */
  entry(which: number): Entry {
    return (this.entries[which - 1] ??= this.#kept(which - 1))
  }

  /** Says whether there was room for the pattern, which has a character for each byte. */
  add(pattern: string, kind: PatternKind): boolean {
    const bytes = pattern.slice(0, COMPARED)
    const width = Math.min(bytes.length, LEAST_BYTES + 1)
    const offset = rarestWindow(bytes, width)
    const [one, two, three] = [0, 1, 2].map((at) => bytes.charCodeAt(offset + at)) as [number, number, number]
    const four = width > LEAST_BYTES ? bytes.charCodeAt(offset + LEAST_BYTES) : undefined
    this.#addPair(one, two, kind.isAnyCase, 1 << (three & BYTE_KINDS))
    this.#addPair(two, three, kind.isAnyCase, four === undefined ? ANY_KIND : 1 << (four & BYTE_KINDS))
    const first = hashOf(one, two, three)
    const hash = four === undefined ? first : hashWith(first, four)
    if (this.entries.length === MOST_ENTRIES) return false
    this.entries.push({ bytes, offset, kind, next: this.firsts[hash]! })
    this.firsts[hash] = this.entries.length
    return true
  }

  /** What the tables hold; `kinds` are the kinds that its patterns may have. */
  image(kinds: readonly PatternKind[]): GateImage {
    const entries = this.entries.map((_, index) => this.entry(index + 1))
    return {
      patterns: entries.map(({ bytes }) => bytes).join('\n'),
      entries: entries.flatMap(({ offset, kind, next }) => [offset, placeOf(kind, kinds), next]),
      behind: sparse(this.behind),
      firsts: sparse(this.firsts),
    }
  }

  #kept(index: number): Entry {
    this.#patterns ??= this.#image?.patterns.split('\n') ?? []
    const [offset = 0, kind = 0, next = 0] =
      this.#image?.entries.slice(index * NUMBERS, (index + 1) * NUMBERS) ?? []
    return { bytes: this.#patterns[index]!, offset, kind: this.#kinds[kind]!, next }
  }

  #addPair(first: number, second: number, isAnyCase: boolean, kinds: number): void {
    const { behind } = this
    behind[pairOf(first, second)]! |= kinds
    if (!isAnyCase) return
    const [one, other] = [otherCase(first), otherCase(second)]
    behind[pairOf(one, second)]! |= kinds
    behind[pairOf(first, other)]! |= kinds
    behind[pairOf(one, other)]! |= kinds
  }
}

const NUMBERS = 3 // for each entry
const ANY_KIND = 0xffff
const HASH_BITS = 16
/** As many as can be told apart; with more, everything gets a close look. */
const MOST_ENTRIES = 0xffff
const HASH_MASK = (1 << HASH_BITS) - 1
const CASE = 0x20

function fill(table: Uint16Array, pairs: readonly number[]): void {
  for (let at = 0; at < pairs.length; at += 2) table[pairs[at]!] = pairs[at + 1]!
}

function sparse(table: Uint16Array): readonly number[] {
  return [...table].flatMap((value, place) => (value === 0 ? [] : [place, value]))
}

function placeOf(kind: PatternKind, kinds: readonly PatternKind[]): number {
  const place = kinds.findIndex(
    ({ isAnyCase, follow, notAfter }) =>
      isAnyCase === kind.isAnyCase && follow === kind.follow && notAfter === kind.notAfter,
  )
  if (place < 0) throw new Error('a pattern is of a kind that is not in the list')
  return place
}

/** Two bytes, as most machines read them at once. */
export function pairOf(first: number, second: number): number {
  return (second << 8) | first
}

/** The case of letters is not told apart here, which costs a few needless looks and nothing else. */
export function hashOf(one: number, two: number, three: number): number {
  return ((one | CASE) * 9739 + (two | CASE) * 173 + (three | CASE)) & HASH_MASK
}

/** One byte more. */
export function hashWith(hash: number, byte: number): number {
  return (hash * 31 + (byte | CASE)) & HASH_MASK
}

function otherCase(byte: number): number {
  const isLetter = (byte | CASE) >= 0x61 && (byte | CASE) <= 0x7a
  return isLetter ? byte ^ CASE : byte
}
