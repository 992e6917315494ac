import { COMPARED_BYTES, type PatternEntry, type PatternKind } from '../gate-entry.ts'
import { rarestWindow } from '../rare-window.ts'

/** Tables that were filled before, in the form in which a program carries them. */
export interface PrefilterImage {
  /** A line for each pattern. */
  readonly patterns: string
  /** Of each pattern: where its rarest bytes begin, the place of its kind in a list, and the next one of the same hash. */
  readonly entries: readonly number[]
  /** Pairs of bytes, each with the kinds of bytes that stand behind it. */
  readonly followers: readonly number[]
  /** Hashes, each with the first entry that has it. */
  readonly firstEntries: readonly number[]
}

/** By how many bytes at least a pattern is found. */
export const LEAST_BYTES = 3
/** Bytes are of sixteen kinds; the case of a letter makes no difference. */
export const BYTE_KINDS = 15

/** What a gate compares bytes with. */
export class PrefilterTables {
  /** Of each pair of bytes: the kinds of bytes that stand behind it in a pattern. */
  readonly followers: Uint16Array = new Uint16Array(1 << 16)
  /** Of each hash of the rarest bytes of a pattern: which entry is the first that has it, counted from one. */
  readonly firstEntries: Uint16Array = new Uint16Array(1 << HASH_BITS)
  /** Those of an image are made when they are first asked for: a recorder that meets no secret needs few. */
  readonly entries: (PatternEntry | undefined)[] = []
  readonly #kinds: readonly PatternKind[]
  readonly #image: PrefilterImage | undefined
  #patterns: readonly string[] | undefined

  constructor(image?: PrefilterImage, kinds: readonly PatternKind[] = []) {
    this.#image = image
    this.#kinds = kinds
    if (image === undefined) return
    fillSparse(this.followers, image.followers)
    fillSparse(this.firstEntries, image.firstEntries)
    this.entries.length = image.entries.length / NUMBERS_PER_ENTRY
  }

  /** One of them, counted from one. */
  entry(which: number): PatternEntry {
    return (this.entries[which - 1] ??= this.#entryFromImage(which - 1))
  }

  /** Says whether there was room for the pattern, which has a character for each byte. */
  add(pattern: string, kind: PatternKind): boolean {
    const bytes = pattern.slice(0, COMPARED_BYTES)
    const width = Math.min(bytes.length, LEAST_BYTES + 1)
    const offset = rarestWindow(bytes, width)
    const [one, two, three] = [0, 1, 2].map((at) => bytes.charCodeAt(offset + at)) as [number, number, number]
    const four = width > LEAST_BYTES ? bytes.charCodeAt(offset + LEAST_BYTES) : undefined
    this.#addPair(one, two, kind.isAnyCase, 1 << (three & BYTE_KINDS))
    this.#addPair(two, three, kind.isAnyCase, four === undefined ? ANY_KIND : 1 << (four & BYTE_KINDS))
    const first = hashOfThreeBytes(one, two, three)
    const hash = four === undefined ? first : hashWith(first, four)
    if (this.entries.length === MAX_ENTRIES) return false
    this.entries.push({ bytes, offset, kind, next: this.firstEntries[hash]! })
    this.firstEntries[hash] = this.entries.length
    return true
  }

  /** What the tables hold; `kinds` are the kinds that its patterns may have. */
  image(kinds: readonly PatternKind[]): PrefilterImage {
    const entries = this.entries.map((_, index) => this.entry(index + 1))
    return {
      patterns: entries.map(({ bytes }) => bytes).join('\n'),
      entries: entries.flatMap(({ offset, kind, next }) => [offset, kindIndex(kind, kinds), next]),
      followers: toSparse(this.followers),
      firstEntries: toSparse(this.firstEntries),
    }
  }

  #entryFromImage(index: number): PatternEntry {
    this.#patterns ??= this.#image?.patterns.split('\n') ?? []
    const [offset = 0, kind = 0, next = 0] =
      this.#image?.entries.slice(index * NUMBERS_PER_ENTRY, (index + 1) * NUMBERS_PER_ENTRY) ?? []
    return { bytes: this.#patterns[index]!, offset, kind: this.#kinds[kind]!, next }
  }

  #addPair(first: number, second: number, isAnyCase: boolean, kinds: number): void {
    const { followers } = this
    followers[pairOf(first, second)]! |= kinds
    if (!isAnyCase) return
    const [one, other] = [otherCase(first), otherCase(second)]
    followers[pairOf(one, second)]! |= kinds
    followers[pairOf(first, other)]! |= kinds
    followers[pairOf(one, other)]! |= kinds
  }
}

const NUMBERS_PER_ENTRY = 3 // for each entry
const ANY_KIND = 0xffff
const HASH_BITS = 16
/** As many as can be told apart; with more, everything gets a close look. */
const MAX_ENTRIES = 0xffff
const HASH_MASK = (1 << HASH_BITS) - 1
const CASE_BIT = 0x20

function fillSparse(table: Uint16Array, pairs: readonly number[]): void {
  for (let at = 0; at < pairs.length; at += 2) table[pairs[at]!] = pairs[at + 1]!
}

function toSparse(table: Uint16Array): readonly number[] {
  return [...table].flatMap((value, place) => (value === 0 ? [] : [place, value]))
}

function kindIndex(kind: PatternKind, kinds: readonly PatternKind[]): number {
  const place = kinds.findIndex(
    ({ isAnyCase, followedBy, notPrecededBy }) =>
      isAnyCase === kind.isAnyCase && followedBy === kind.followedBy && notPrecededBy === kind.notPrecededBy,
  )
  if (place < 0) throw new Error('a pattern is of a kind that is not in the list')
  return place
}

/** Two bytes, as most machines read them at once. */
export function pairOf(first: number, second: number): number {
  return (second << 8) | first
}

/** The case of letters is not told apart here, which costs a few needless looks and nothing else. */
export function hashOfThreeBytes(one: number, two: number, three: number): number {
  return ((one | CASE_BIT) * 9739 + (two | CASE_BIT) * 173 + (three | CASE_BIT)) & HASH_MASK
}

/** One byte more. */
export function hashWith(hash: number, byte: number): number {
  return (hash * 31 + (byte | CASE_BIT)) & HASH_MASK
}

function otherCase(byte: number): number {
  const isLetter = (byte | CASE_BIT) >= 0x61 && (byte | CASE_BIT) <= 0x7a
  return isLetter ? byte ^ CASE_BIT : byte
}
