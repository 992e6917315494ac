import type { ByteTest } from './byte-tests.ts'

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

/** How a pattern is meant that bytes must hold before they are worth a close look. */
export interface PatternKind {
  /** Upper and lower case are the same. */
  readonly isAnyCase: boolean
  /** What must come right behind it. */
  readonly followedBy?: ByteTest | undefined
  /** What must not stand right before it. */
  readonly notPrecededBy?: ByteTest | undefined
}

/** A pattern, as the gate keeps it. */
export interface PatternEntry {
  readonly kind: PatternKind
  /** A character for each byte. */
  readonly bytes: string
  /** Where in it the bytes stand by which it is found. */
  readonly offset: number
  /** The next entry of the same hash, counted from one. */
  readonly next: number
}

/** The text within which patterns may stand. */
export interface ScanRange {
  readonly start: number
  readonly end: number
}

/** Whether the pattern stands around the bytes at this place by which it is found. */
export function entryMatchesAt(
  entry: PatternEntry,
  bytes: Uint8Array,
  at: number,
  { start, end }: ScanRange,
): boolean {
  const { bytes: wanted, offset, kind } = entry
  const begin = at - offset
  const behind = begin + wanted.length
  if (begin < start || behind > end) return false
  for (let index = 0; index < wanted.length; index++)
    if (!isSameByte(bytes[begin + index]!, wanted.charCodeAt(index), kind.isAnyCase)) return false
  const { followedBy, notPrecededBy } = kind
  if (notPrecededBy?.(bytes, begin, end) === true) return false
  return followedBy === undefined || followedBy(bytes, behind, end)
}

function isSameByte(byte: number, wanted: number, isAnyCase: boolean): boolean {
  return byte === wanted || (isAnyCase && (byte | CASE) === (wanted | CASE))
}

const CASE = 0x20
/** So much of a pattern is compared; the close look compares the rest. */
const COMPARED_BYTES = 32

/** The bytes of a text as a character each. */
export function toByteString(text: string): string {
  return NOT_ASCII.test(text) ? String.fromCharCode(...encoder.encode(text.slice(0, COMPARED_BYTES))) : text
}

const encoder = new TextEncoder()
const NOT_ASCII = /[^\0-\x7f]/

/** Where the bytes of a pattern begin, of which so many pairs are the least common in texts; a character stands for each byte. */
function rarestWindow(bytes: string, width: number): number {
  const last = Math.min(bytes.length - width, MAX_WINDOW_START)
  let common = 0
  for (let at = 0; at < width - 1; at++) common += pairFrequencyAt(bytes, at)
  let best = 0
  let least = common
  for (let at = 1; at <= last && least > RARE_ENOUGH; at++) {
    common += pairFrequencyAt(bytes, at + width - 2) - pairFrequencyAt(bytes, at - 1)
    if (common >= least) continue
    best = at
    least = common
  }
  return best
}

const MAX_WINDOW_START = 24
/** Rare enough to look no further: every recorder does this for hundreds of patterns before it hands the first message on. */
const RARE_ENOUGH = 100
const LOWER_A = 0x61
const LETTER = 31

function pairFrequencyAt(bytes: string, at: number): number {
  const first = bytes.charCodeAt(at)
  const second = bytes.charCodeAt(at + 1)
  if (first === second || first === SPACE || second === SPACE) return 200 // lines, tables, and words that end
  if (first < LOWER_A || second < LOWER_A) return 1
  const pair = PAIR_FREQUENCY[((first & LETTER) << 5) | (second & LETTER)]!
  return pair + LETTER_RANKS[first & LETTER]! * LETTER_RANKS[second & LETTER]!
}

const SPACE = 0x20
/** Of the letters: the higher, the more common. */
const LETTER_RANKS = new Uint8Array(32).fill(2)
const LETTERS_BY_RANK = 'zxqjkgbvpywfmculdrhsnioate'
for (let rank = 0; rank < LETTERS_BY_RANK.length; rank++)
  LETTER_RANKS[LETTERS_BY_RANK.charCodeAt(rank) & LETTER] = rank + 3
const PAIR_FREQUENCY = new Uint16Array(1024)
/** The most common pairs of letters, the commonest last. */
const COMMON_PAIRS =
  'ottauromsimabellchliceraeaneicrorihidemecoveleioouashasengnttostaralitisedofteorestindenatonreanerinheth'
for (let at = 0; at + 1 < COMMON_PAIRS.length; at += 2)
  PAIR_FREQUENCY[((COMMON_PAIRS.charCodeAt(at) & LETTER) << 5) | (COMMON_PAIRS.charCodeAt(at + 1) & LETTER)] =
    500 + at * 10
