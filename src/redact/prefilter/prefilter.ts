import { fromBase64, NAMED_ENTITIES } from '../views.ts'
import { lineBreakAt, nextEncodedRun, type EncodedRun } from './encoded-runs.ts'
import { WindowFilter } from './fingerprints.ts'

/**
 * Decides quickly whether a text can contain a secret. Most texts contain none, and should cost next to nothing. At every second
 * byte a table says whether this byte and the next two can be part of a pattern. Three of any four bytes of a pattern are
 * covered in this way, and at least two bytes of a pattern of three.
 */
export class SecretPrefilter {
  readonly #tables: PrefilterTables
  readonly #followers: Uint32Array
  readonly #letterFollowers: Uint32Array
  readonly #firstEntries: Uint16Array
  readonly #usedHashes: Uint32Array
  readonly #entries: readonly (PatternEntry | undefined)[]
  readonly #singleBytes: number[] = []
  #windows: WindowFilter | undefined
  #acceptsAll = false

  constructor(from: PrefilterTables) {
    this.#tables = from
    this.#followers = from.followers
    this.#letterFollowers = from.letterFollowers
    this.#firstEntries = from.firstEntries
    this.#usedHashes = from.usedHashes
    this.#entries = from.entries
  }

  /** Lets every text pass from now on. */
  acceptAll(): void {
    this.#acceptsAll = true
  }

  /** The pattern has one character per byte; see `toByteString`. `rule` is the number of the rule that it belongs to, if any. */
  add(pattern: string, kind: PatternKind, rule = 0): void {
    if (pattern.length === 1) this.#singleBytes.push(pattern.charCodeAt(0))
    else if (pattern.length < LEAST_BYTES || !this.#tables.add(pattern, kind, rule)) this.acceptAll()
  }

  /** Adds one of very many patterns. They take no memory, but more of the other texts pass. */
  addToMany(pattern: string): void {
    this.#windows ??= new WindowFilter()
    this.#windows.add(pattern)
  }

  /** The numbers of the rules that have a pattern in the bytes. */
  rulesIn(bytes: Uint8Array, start = 0, end: number = bytes.length): ReadonlySet<number> {
    const found = new Set<number>()
    const within = { start, end }
    for (let at = start; at + LEAST_BYTES <= end; at++) {
      const kinds = this.#followers[pairOf(bytes[at]!, bytes[at + 1]!)]!
      if (((kinds >> (bytes[at + 2]! & BYTE_KINDS)) & 1) === 0) continue
      const three = hashOfThreeBytes(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)
      this.#addRulesAt(found, three, bytes, at, within)
      if (at + LEAST_BYTES < end)
        this.#addRulesAt(found, hashWith(three, bytes[at + LEAST_BYTES]!), bytes, at, within)
    }
    return found
  }

  #addRulesAt(found: Set<number>, hash: number, bytes: Uint8Array, at: number, within: ScanRange): void {
    for (let which = this.#firstEntries[hash]!; which > 0;) {
      const entry = this.#entries[which - 1] ?? this.#tables.entry(which)
      if (entry.rule > 0 && !found.has(entry.rule) && entryMatchesAt(entry, bytes, at, within))
        found.add(entry.rule)
      which = entry.next
    }
  }

  /** Returns true if the bytes must be searched with the rules. */
  mayMatch(bytes: Uint8Array, start = 0, end: number = bytes.length, depth = 0): boolean {
    if (this.#acceptsAll) return true
    if (end - start < LEAST_BYTES) return false
    if (this.#mayMatchAsWritten(bytes, start, end)) return true
    if (this.#mayMatchEncoded(bytes, start, end, depth)) return true
    let decoded = decodeEscapes(bytes, start, end)
    for (let escapes = 0; decoded !== undefined && escapes < MAX_ESCAPE_DEPTH; escapes++) {
      if (this.#mayMatchAsWritten(decoded, 0, decoded.length)) return true
      decoded = decodeEscapes(decoded, 0, decoded.length)
    }
    return false
  }

  #mayMatchEncoded(bytes: Uint8Array, start: number, end: number, depth: number): boolean {
    if (depth === MAX_RUN_DEPTH) return false
    let run = nextEncodedRun(bytes, start, end)
    for (; run !== undefined; run = nextEncodedRun(bytes, run.end, end)) {
      if (run.kind === 'compressed') return true
      const decoded = decodeRun(bytes, run)
      if (this.mayMatch(decoded, 0, decoded.length, depth + 1)) return true
    }
    return false
  }

  #mayMatchAsWritten(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#scan(bytes, start, end) || this.#windows?.mayMatch(bytes, start, end) === true) return true
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

  /** Four independent lookups at a time, which the processor runs in parallel. */
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
      const one = behind[word & 0xffff]! >> ((word >>> 16) & BYTE_KINDS)
      const two = behind[word >>> 16]! >> (next & BYTE_KINDS)
      const three = behind[next & 0xffff]! >> ((next >>> 16) & BYTE_KINDS)
      const four = behind[next >>> 16]! >> (after & BYTE_KINDS)
      word = after
      if (((one | two | three | four) & 1) === 0) continue
      const place = within.first + at * WORD
      if ((one & 1) === 1 && this.#matchesAround(bytes, place, within)) return true
      if ((two & 1) === 1 && this.#matchesAround(bytes, place + 2, within)) return true
      if ((three & 1) === 1 && this.#matchesAround(bytes, place + 4, within)) return true
      if ((four & 1) === 1 && this.#matchesAround(bytes, place + 6, within)) return true
    }
    return false
  }

  /** Like `#scanWords`, byte by byte. */
  #scanBytes(bytes: Uint8Array, from: number, to: number, within: ScanRange): boolean {
    const last = Math.min(to, within.end - LEAST_BYTES + 1)
    for (let at = from; at < last; at++) {
      const kinds = this.#followers[pairOf(bytes[at]!, bytes[at + 1]!)]!
      if (((kinds >> (bytes[at + 2]! & BYTE_KINDS)) & 1) === 0) continue
      if (this.#matchesAround(bytes, at, within)) return true
    }
    return false
  }

  /** The rarest bytes of a pattern begin at this index, or at the one before. A small table tells most of the other places. */
  #matchesAround(bytes: Uint8Array, at: number, within: ScanRange): boolean {
    const letters = this.#letterFollowers[pairOf(bytes[at]!, bytes[at + 1]!)]!
    if (((letters >> (bytes[at + 2]! & BYTE_KINDS)) & 1) === 0 && isLetterOrDigit(bytes[at + 2]!))
      return false
    const zero = at > within.start ? bytes[at - 1]! | CASE_BIT : 0
    const one = bytes[at]! | CASE_BIT
    const two = bytes[at + 1]! | CASE_BIT
    const three = bytes[at + 2]! | CASE_BIT
    const here = (one * 9739 + two * 173 + three) & HASH_MASK
    const before = (zero * 9739 + one * 173 + two) & HASH_MASK
    const hereLonger = (here * 31 + (bytes[at + 3]! | CASE_BIT)) & HASH_MASK
    const beforeLonger = (before * 31 + three) & HASH_MASK
    const bits = this.#usedHashes
    const isHere = (bits[here >>> 5]! >>> (here & 31)) & 1
    const isBefore = (bits[before >>> 5]! >>> (before & 31)) & 1
    const isHereLonger = (bits[hereLonger >>> 5]! >>> (hereLonger & 31)) & 1
    const isBeforeLonger = (bits[beforeLonger >>> 5]! >>> (beforeLonger & 31)) & 1
    if ((isHere | isBefore | isHereLonger | isBeforeLonger) === 0) return false
    return (
      (isHere === 1 && this.#matchesHashAt(here, bytes, at, within)) ||
      (isHereLonger === 1 && this.#matchesHashAt(hereLonger, bytes, at, within)) ||
      (isBefore === 1 && this.#matchesHashAt(before, bytes, at - 1, within)) ||
      (isBeforeLonger === 1 && this.#matchesHashAt(beforeLonger, bytes, at - 1, within))
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

function decodeRun(bytes: Uint8Array, { start, end, kind }: EncodedRun): Uint8Array {
  const run = withoutLineBreaks(bytes.subarray(start, end))
  if (kind === 'hex')
    return Uint8Array.from(
      { length: run.length >> 1 },
      (_, at) => hexValue(run[2 * at]) * 16 + hexValue(run[2 * at + 1]),
    )
  const decoded = fromBase64(new TextDecoder('latin1').decode(run))
  return kind === 'utf-16' ? decoded.filter((_, at) => at % 2 === 0) : decoded
}

function withoutLineBreaks(run: Uint8Array): Uint8Array {
  if (!run.includes(NEWLINE) && !run.includes(BACKSLASH)) return run
  const joined = new Uint8Array(run.length)
  let length = 0
  for (let at = 0; at < run.length; at++) {
    at += lineBreakAt(run, at)
    if (at < run.length) joined[length++] = run[at]!
  }
  return joined.subarray(0, length)
}

/** Resolves percent-encoding and the entities of HTML. Returns `undefined` if there are none. */
function decodeEscapes(bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
  const text = bytes.subarray(start, end)
  const first = Math.min(firstEscape(text, PERCENT), firstEscape(text, AMPERSAND))
  if (first === Infinity) return undefined
  const decoded = new Uint8Array(text.length)
  decoded.set(text.subarray(0, first))
  let length = first
  for (let at = first; at < text.length; length++) {
    const byte = text[at]!
    const width = byte === PERCENT || byte === AMPERSAND ? escapeWidth(text, at) : 1
    decoded[length] = width === 1 ? byte : escapedByte(text, at, width)
    at += width
  }
  return decoded.subarray(0, length)
}

/** Index of the first escape that begins with this byte, or Infinity. */
function firstEscape(bytes: Uint8Array, mark: number): number {
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1))
    if (escapeWidth(bytes, at) > 1) return at
  return Infinity
}

/** Number of bytes of the escape at an index; 1 if there is none. */
function escapeWidth(bytes: Uint8Array, at: number): number {
  if (bytes[at] === PERCENT) return hexValue(bytes[at + 1]) >= 0 && hexValue(bytes[at + 2]) >= 0 ? 3 : 1
  const width = bytes.subarray(at, at + LONGEST_ENTITY).indexOf(SEMICOLON) + 1
  return width > 0 && escapedByte(bytes, at, width) > 0 ? width : 1
}

/** The byte that an escape stands for; 0 if it is not an escape. */
function escapedByte(bytes: Uint8Array, at: number, width: number): number {
  if (bytes[at] === PERCENT) return hexValue(bytes[at + 1]) * 16 + hexValue(bytes[at + 2])
  const entity = String.fromCharCode(...bytes.subarray(at + 1, at + width - 1)).toLowerCase()
  const code = entity.startsWith('#x') ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1))
  return entity.startsWith('#') ? code : (NAMED_ENTITIES[entity]?.charCodeAt(0) ?? 0)
}

function hexValue(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | CASE_BIT
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

const [NEWLINE, PERCENT, AMPERSAND, SEMICOLON, BACKSLASH] = [0x0a, 0x25, 0x26, 0x3b, 0x5c]
const LONGEST_ENTITY = 10
/** A value can be escaped more than once, for example if a URL is part of a parameter of a URL. */
const MAX_ESCAPE_DEPTH = 3

/** A text can be encoded more than once. */
const MAX_RUN_DEPTH = 3

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const WORD = 4

/** Filled tables in the form of a source file. Numbers are packed into texts, which a program reads much faster than lists. */
export interface PrefilterImage {
  /** One line per pattern. */
  readonly patterns: string
  /** For each pattern: the offset of its rarest bytes, the index of its kind, the next entry with the same hash, and its rule. */
  readonly entries: string
  /** Pairs of bytes, each with the classes of bytes that can follow it. */
  readonly followers: string
  /** The pairs for which these classes are others if the byte is a letter or a digit. */
  readonly letterFollowers: string
  /** Hashes, each with the first entry that has it. */
  readonly firstEntries: string
}

/** Length of the shortest pattern that can be found. */
const LEAST_BYTES = 3
/** Mask for the 32 classes of bytes. Both cases of a letter are in the same class, and no other letter. */
const BYTE_KINDS = 31

/** The patterns of a prefilter. */
export class PrefilterTables {
  /** For each pair of bytes: the classes of bytes that follow it in a pattern. */
  readonly followers: Uint32Array = new Uint32Array(1 << 16)
  /** The same for letters and digits, which do not follow a pattern that is the end of a word. */
  readonly letterFollowers: Uint32Array = new Uint32Array(1 << 16)
  /** For each hash of the rarest bytes of a pattern: the first entry with that hash, counted from 1. */
  readonly firstEntries: Uint16Array = new Uint16Array(1 << HASH_BITS)
  /** For each hash, one bit: whether it has an entry. This table fits into the fastest memory of a processor. */
  readonly usedHashes: Uint32Array = new Uint32Array((1 << HASH_BITS) / 32)
  /** Entries of an image are created on first use: a recorder that meets no secret needs few of them. */
  readonly entries: (PatternEntry | undefined)[] = []
  readonly #kinds: readonly PatternKind[]
  readonly #image: PrefilterImage | undefined
  #numbers: string | undefined
  #patterns: readonly string[] | undefined

  constructor(image?: PrefilterImage, kinds: readonly PatternKind[] = []) {
    this.#image = image
    this.#kinds = kinds
    if (image === undefined) return
    fillFollowers(this.followers, atob(image.followers))
    this.letterFollowers.set(this.followers)
    fillFollowers(this.letterFollowers, atob(image.letterFollowers))
    fillFirstEntries(this.firstEntries, this.usedHashes, atob(image.firstEntries))
    this.entries.length = packedCount(image.entries) / NUMBERS_PER_ENTRY
  }

  /** Returns an entry, counted from 1. */
  entry(which: number): PatternEntry {
    return (this.entries[which - 1] ??= this.#entryFromImage(which - 1))
  }

  /** Returns false if there is no room for the pattern. */
  add(pattern: string, kind: PatternKind, rule = 0): boolean {
    const bytes = pattern.slice(0, COMPARED_BYTES)
    const width = Math.min(bytes.length, LEAST_BYTES + 1)
    const offset = rarestWindow(bytes, width)
    const [one, two, three] = [0, 1, 2].map((at) => bytes.charCodeAt(offset + at)) as [number, number, number]
    const four = width > LEAST_BYTES ? bytes.charCodeAt(offset + LEAST_BYTES) : undefined
    const tables = [this.followers, this.letterFollowers]
    addPair(tables, one, two, kind, 1 << (three & BYTE_KINDS))
    if (four !== undefined) addPair(tables, two, three, kind, 1 << (four & BYTE_KINDS))
    else addPair(kind.isWordEnd === true ? [this.followers] : tables, two, three, kind, ANY_KIND)
    const first = hashOfThreeBytes(one, two, three)
    const hash = four === undefined ? first : hashWith(first, four)
    if (this.entries.length === MAX_ENTRIES) return false
    const next = this.firstEntries[hash]!
    const chain = this.#chainFrom(next)
    const window = bytes.slice(offset, offset + width)
    if (chain.length < MAX_CHAIN_LENGTH || rule > 0)
      this.entries.push(entryOf({ bytes, offset, kind, next, rule }))
    else if (chain.some((entry) => entry.bytes === window)) return true
    else if (chain.length === 2 * MAX_CHAIN_LENGTH) return false
    // One entry for the rarest bytes alone stands for all further patterns that have them.
    else this.entries.push(entryOf({ bytes: window, offset: 0, kind: { isAnyCase: true }, next, rule }))
    this.firstEntries[hash] = this.entries.length
    this.usedHashes[hash >>> 5]! |= 1 << (hash & 31)
    return true
  }

  /** The entries with one hash, as far as they count. Many known values that begin in the same way have the same hash. */
  #chainFrom(first: number): readonly PatternEntry[] {
    const chain: PatternEntry[] = []
    for (let which = first; which > 0 && chain.length < 2 * MAX_CHAIN_LENGTH;) {
      const entry = this.entry(which)
      chain.push(entry)
      which = entry.next
    }
    return chain
  }

  /** `kinds` lists all kinds that the patterns can have. */
  image(kinds: readonly PatternKind[]): PrefilterImage {
    const entries = this.entries.map((_, index) => this.entry(index + 1))
    return {
      patterns: entries.map(({ bytes }) => bytes).join('\n'),
      entries: packNumbers(
        entries.flatMap(({ offset, kind, next, rule }) => [offset, kindIndex(kind, kinds), next, rule]),
      ),
      followers: packNumbers(toSparse(this.followers).flatMap(inTwoParts)),
      letterFollowers: packNumbers(
        toSparse(this.followers)
          .filter((pair, at) => at % 2 === 0 && this.letterFollowers[pair] !== this.followers[pair])
          .flatMap((pair) => [pair, this.letterFollowers[pair]!])
          .flatMap(inTwoParts),
      ),
      firstEntries: packNumbers(toSparse(this.firstEntries)),
    }
  }

  #entryFromImage(index: number): PatternEntry {
    this.#patterns ??= this.#image?.patterns.split('\n') ?? []
    const numbers = (this.#numbers ??= atob(this.#image?.entries ?? ''))
    const [offset, kind, next, rule] = [0, 1, 2, 3].map((at) =>
      numberAt(numbers, index * NUMBERS_PER_ENTRY + at),
    ) as [number, number, number, number]
    return entryOf({ bytes: this.#patterns[index]!, offset, kind: this.#kinds[kind]!, next, rule })
  }
}

/** Adds the classes of bytes that can follow two bytes of a pattern. */
function addPair(
  tables: readonly Uint32Array[],
  first: number,
  second: number,
  { isAnyCase }: PatternKind,
  kinds: number,
): void {
  for (const one of isAnyCase ? [first, otherCase(first)] : [first])
    for (const two of isAnyCase ? [second, otherCase(second)] : [second])
      for (const table of tables) table[pairOf(one, two)]! |= kinds
}

const NUMBERS_PER_ENTRY = 4
const ANY_KIND = 0xffffffff
const HASH_BITS = 16
/** The largest number in a table. With more patterns every text passes. */
const MAX_ENTRIES = 0xffff
const MAX_CHAIN_LENGTH = 32
const HASH_MASK = (1 << HASH_BITS) - 1
const CASE_BIT = 0x20

function packNumbers(numbers: readonly number[]): string {
  return btoa(numbers.map((number) => String.fromCharCode(number & 255, number >> 8)).join(''))
}

/** The number of packed numbers. */
function packedCount(packed: string): number {
  const padding = packed.length - packed.replace(/=+$/, '').length
  return ((packed.length / 4) * 3 - padding) / 2
}

/** Reads a packed number after `atob`. */
function numberAt(bytes: string, index: number): number {
  return bytes.charCodeAt(2 * index) | (bytes.charCodeAt(2 * index + 1) << 8)
}

function fillFirstEntries(table: Uint16Array, used: Uint32Array, pairs: string): void {
  for (let at = 0; at < pairs.length / 2; at += 2) {
    const hash = numberAt(pairs, at)
    table[hash] = numberAt(pairs, at + 1)
    used[hash >>> 5]! |= 1 << (hash & 31)
  }
}

/** Fills a table of larger numbers, of which each is stored in two parts. */
function fillFollowers(table: Uint32Array, parts: string): void {
  for (let at = 0; at < parts.length / 2; at += 4)
    table[numberAt(parts, at)] = numberAt(parts, at + 2) | (numberAt(parts, at + 3) << 16)
}

function inTwoParts(number: number): readonly number[] {
  return [number & 0xffff, number >>> 16]
}

function toSparse(table: Uint16Array | Uint32Array): readonly number[] {
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

/** Two bytes as a little-endian number. */
function pairOf(first: number, second: number): number {
  return (second << 8) | first
}

/** Ignores the case of letters, which lets a few more texts pass. */
function hashOfThreeBytes(one: number, two: number, three: number): number {
  return ((one | CASE_BIT) * 9739 + (two | CASE_BIT) * 173 + (three | CASE_BIT)) & HASH_MASK
}

function hashWith(hash: number, byte: number): number {
  return (hash * 31 + (byte | CASE_BIT)) & HASH_MASK
}

function otherCase(byte: number): number {
  const isLetter = (byte | CASE_BIT) >= 0x61 && (byte | CASE_BIT) <= 0x7a
  return isLetter ? byte ^ CASE_BIT : byte
}

/** Tests the bytes at an index. */
export type ByteTest = (bytes: Uint8Array, at: number, end: number) => boolean

/** How a pattern is compared, and what may be around it. */
export interface PatternKind {
  readonly isAnyCase: boolean
  /** The pattern is the end of a word. */
  readonly isWordEnd?: true
  /** Must be true for the bytes after the pattern. */
  readonly followedBy?: ByteTest | undefined
  /** Must be false for the bytes before the pattern. */
  readonly notPrecededBy?: ByteTest | undefined
}

interface PatternEntry {
  readonly kind: PatternKind
  /** One character per byte. */
  readonly bytes: string
  /** Offset of its rarest bytes, by which it is found. */
  readonly offset: number
  /** The next entry with the same hash, counted from 1; 0 if there is none. */
  readonly next: number
  /** The number of the rule that the pattern belongs to; 0 if it belongs to none. */
  readonly rule: number
  readonly isWordEnd: boolean
}

/** All entries have the same shape, and what is asked first is in the entry itself: kinds differ in shape, which is slow. */
function entryOf(entry: Omit<PatternEntry, 'isWordEnd'>): PatternEntry {
  const { kind, bytes, offset, next, rule } = entry
  return { kind, bytes, offset, next, rule, isWordEnd: kind.isWordEnd === true }
}

/** The range that a pattern must not exceed. */
interface ScanRange {
  readonly start: number
  readonly end: number
}

/** Returns true if the pattern is around its rarest bytes, which are at this index. */
function entryMatchesAt(
  entry: PatternEntry,
  bytes: Uint8Array,
  at: number,
  { start, end }: ScanRange,
): boolean {
  const { bytes: wanted, offset, kind, isWordEnd } = entry
  const begin = at - offset
  const behind = begin + wanted.length
  if (begin < start || behind > end) return false
  if (isWordEnd && behind < end && isLetterOrDigit(bytes[behind]!)) return false
  for (let index = 0; index < wanted.length; index++)
    if (!isSameByte(bytes[begin + index]!, wanted.charCodeAt(index), kind.isAnyCase)) return false
  const { followedBy, notPrecededBy } = kind
  if (notPrecededBy?.(bytes, begin, end) === true) return false
  return followedBy === undefined || followedBy(bytes, behind, end)
}

export function isLetterOrDigit(byte: number): boolean {
  const letter = byte | CASE_BIT
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39)
}

function isSameByte(byte: number, wanted: number, isAnyCase: boolean): boolean {
  return byte === wanted || (isAnyCase && (byte | CASE_BIT) === (wanted | CASE_BIT))
}

/** Only the beginning of a pattern is compared; the rules compare the rest. */
const COMPARED_BYTES = 32

/** The UTF-8 bytes of a text, with one character per byte. */
export function toByteString(text: string): string {
  return NOT_ASCII.test(text) ? String.fromCharCode(...encoder.encode(text.slice(0, COMPARED_BYTES))) : text
}

const encoder = new TextEncoder()
const NOT_ASCII = /[^\0-\x7f]/

/** Offset of the `width` bytes of a pattern that are rarest in ordinary text. */
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
/** Rare enough to stop searching: a recorder with its own rules does this for many patterns before its first message. */
const RARE_ENOUGH = 100
const LOWER_A = 0x61
const LETTER = 31

function pairFrequencyAt(bytes: string, at: number): number {
  const first = bytes.charCodeAt(at)
  const second = bytes.charCodeAt(at + 1)
  if (first === second || first === SPACE || second === SPACE) return 200 // rules, tables, and ends of words
  if (first < LOWER_A || second < LOWER_A) return 1
  const pair = PAIR_FREQUENCY[((first & LETTER) << 5) | (second & LETTER)]!
  return pair + LETTER_RANKS[first & LETTER]! * LETTER_RANKS[second & LETTER]!
}

const SPACE = 0x20
/** For each letter: the more common, the higher. */
const LETTER_RANKS = new Uint8Array(32).fill(2)
const LETTERS_BY_RANK = 'zxqjkgbvpywfmculdrhsnioate'
for (let rank = 0; rank < LETTERS_BY_RANK.length; rank++)
  LETTER_RANKS[LETTERS_BY_RANK.charCodeAt(rank) & LETTER] = rank + 3
const PAIR_FREQUENCY = new Uint16Array(1024)
/** The most common pairs of letters, in ascending order. */
const COMMON_PAIRS =
  'ottauromsimabellchliceraeaneicrorihidemecoveleioouashasengnttostaralitisedofteorestindenatonreanerinheth'
for (let at = 0; at + 1 < COMMON_PAIRS.length; at += 2)
  PAIR_FREQUENCY[((COMMON_PAIRS.charCodeAt(at) & LETTER) << 5) | (COMMON_PAIRS.charCodeAt(at + 1) & LETTER)] =
    500 + at * 10
