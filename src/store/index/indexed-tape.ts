import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { hashText, JsonHasher } from '../../json/hash.ts'
import { requestKey } from '../../match/request-key.ts'
import { decodeFrame, type BrokenLine } from '../../tape/codec.ts'
import type { Frame, LinkSide } from '../../tape/frame.ts'
import { TAPE_VERSION, type TapeHeader, withLateServers } from '../../tape/header.ts'
import {
  type RecordedMessage,
  type Turn,
  type TurnStep,
  clientCallOf,
  type KeyedTurns,
  type KeyOf,
  type TurnKind,
  TurnStore,
  turnStoreOf,
  type TurnSummary,
  type Turns,
} from '../../tape/turns.ts'
import { ArrayColumn } from '../columns.ts'
import { readMatchFile, type CompanionFile } from '../companion-files.ts'
import type { TapeProblem } from '../file/frame-reader.ts'
import { tapeFolder } from '../home.ts'
import { openTape, readTape, type TapeReader } from '../file/read.ts'
import { buildIndex, scanTapeSync } from './build-index.ts'
import { tapeFingerprintOf, openIndexFile } from './index-file.ts'
import { buildKeyTable, KeyTable, type TapeIndex } from './tape-index.ts'
import { TapeLineFile, TurnReader } from './turn-reader.ts'

/** A tape whose turns are read from disk when they are needed. */
export interface IndexedTape extends AsyncDisposable {
  readonly path: string
  readonly header: TapeHeader
  readonly turns: Turns
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** The matching rules from a file beside the tape, if there is one. */
  readonly matchFile?: CompanionFile
  /** Closes the file. Closing it again does nothing. */
  close(): void
}

export interface OpenIndexedOptions {
  /** A tape of at most this many bytes is read into memory. Default: 8 MiB, and 1 MiB in the tape folder. */
  readonly smallBytes?: number
  /** Messages that were held are taken as this side saw them. Default: the client. */
  readonly side?: LinkSide
}

// A tape of this size takes little memory. It is often part of a repository, where a second file would be in the way.
const IN_MEMORY_BYTES = 8 * 1024 * 1024
// In the tape folder nobody minds the index, and with it the first answer comes in two thirds of the time.
const IN_MEMORY_BYTES_IN_TAPE_FOLDER = 1024 * 1024

/**
 * Opens a tape of any size. A small tape is read into memory. For a large tape only an index is kept in memory. It comes from the
 * file beside the tape. If that file is missing or out of date, the index is built and written there.
 */
export async function openIndexedTape(
  path: string,
  { smallBytes = inMemoryBytes(path), side = 'client' }: OpenIndexedOptions = {},
): Promise<IndexedTape> {
  const reader = await openTape(path)
  const fingerprint = tapeFingerprintOf(path)
  const isLarge = fingerprint.bytes > smallBytes && reader.version === TAPE_VERSION
  const opened = isLarge
    ? (openIndexFile(path, fingerprint, () => scanTapeSync(path, fingerprint)) ??
      (await buildIndex(path, fingerprint)))
    : undefined
  if (opened === undefined) return openInMemory(reader, side)
  const { ended, problems, joined } = opened.index.about
  const file = new TapeLineFile(path, statSync(path).size) // The tape may have grown since.
  const matchFile = await readMatchFile(path)
  const close = (): void => {
    file.close()
    opened.close()
  }
  return {
    path,
    header: withLateServers(reader.header, joined.map(decodeFrame).filter(isFrame)),
    turns: new IndexedTurns(opened.index, file),
    ended,
    problems,
    ...(matchFile && { matchFile }),
    close,
    [Symbol.asyncDispose]: async () => close(),
  }
}

function inMemoryBytes(path: string): number {
  return dirname(resolve(path)) === tapeFolder() ? IN_MEMORY_BYTES_IN_TAPE_FOLDER : IN_MEMORY_BYTES
}

// Three kinds of tapes are also read into memory: of an older format version, with a line that is too long for an index, and
// with messages that were held, because each side of the link saw others.
async function openInMemory(reader: TapeReader, side: LinkSide): Promise<IndexedTape> {
  const tape = await readTape(reader, side)
  return { ...tape, turns: turnStoreOf(tape.turns), close: () => {}, [Symbol.asyncDispose]: async () => {} }
}

function isFrame(line: Frame | BrokenLine): line is Frame {
  return line.kind !== 'broken'
}

class IndexedTurns extends TurnStore {
  readonly size: number
  readonly #index: TapeIndex
  readonly #reader: TurnReader
  readonly #recent = new RecentTurnCache()
  readonly #hash = new JsonHasher()

  constructor(index: TapeIndex, file: TapeLineFile) {
    super()
    this.size = index.size
    this.#index = index
    this.#reader = new TurnReader(index, file, (turn) => this.exchangeOf(turn))
  }

  at(index: number): Turn | undefined {
    const known = this.#recent.get(index)
    if (known !== undefined) return known
    const turn = this.#reader.turn(index)
    if (turn !== undefined) this.#recent.add(index, turn)
    return turn
  }

  trigger(index: number): RecordedMessage | undefined {
    return this.#reader.trigger(index)
  }

  summary(index: number): TurnSummary {
    return this.#index.summary(index)
  }

  override responseText(index: number): string {
    return this.#reader.responseLine(index)?.toString('utf8') ?? super.responseText(index)
  }

  override mostSimilar(key: string, indexes: readonly number[], limit: number): readonly number[] {
    this.#hash.hashCanonical(key)
    const { sketch } = this.#hash
    return highestScoring(indexes, (index) => countBits(sketch & this.#index.sketch(index)), limit)
  }

  protected override countKinds(): readonly TurnKind[] {
    return this.#index.kinds()
  }

  protected override indexBy(keyOf: KeyOf): KeyedTurns {
    const isIndexed = keyOf === requestKey
    const table = isIndexed ? this.#index.keys : this.#tableOf(keyOf)
    const hashOf = isIndexed ? (key: string) => this.#hash.hashCanonical(key) : hashText
    return {
      first: (key) => table.first(hashOf(key)),
      next: (index) => table.next(index),
      read: (index, key) => {
        const turn = this.at(index)
        const call = clientCallOf(turn?.trigger)
        return call !== undefined && keyOf(call) === key ? turn : undefined
      },
    }
  }

  /** The index holds the hashes of `requestKey`. For other keys every trigger is read once. */
  #tableOf(keyOf: KeyOf): KeyTable {
    const [low, high] = [new Uint32Array(this.size), new Uint32Array(this.size)]
    for (let index = 0; index < this.size; index++) {
      const call = clientCallOf(this.trigger(index))
      const hash = call === undefined ? { low: 0, high: 0 } : hashText(keyOf(call))
      low[index] = hash.low
      high[index] = hash.high
    }
    const [hashLow, hashHigh] = [new ArrayColumn(low), new ArrayColumn(high)]
    const hasKey = (index: number): boolean => this.summary(index).trigger !== 'none'
    const { slots, next } = buildKeyTable({ hashLow, hashHigh }, hasKey)
    return new KeyTable({ hashHigh, slots: new ArrayColumn(slots), next: new ArrayColumn(next) })
  }
}

/** The `limit` indexes with the highest score; equal ones keep their order. */
function highestScoring(
  indexes: readonly number[],
  scoreOf: (index: number) => number,
  limit: number,
): readonly number[] {
  const byScore: number[][] = []
  for (const index of indexes) (byScore[scoreOf(index)] ??= []).push(index)
  const chosen: number[] = []
  for (const equals of byScore.toReversed()) chosen.push(...(equals ?? []).slice(0, limit - chosen.length))
  return chosen
}

function countBits(word: number): number {
  let rest = word
  let bits = 0
  for (; rest !== 0; bits++) rest &= rest - 1
  return bits
}

const MAX_CACHED_TURNS = 256
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024

/** Keeps the turns that were read last, up to a number of turns and of characters. */
class RecentTurnCache {
  readonly #turns = new Map<number, Turn>()
  #characters = 0

  get(index: number): Turn | undefined {
    return this.#turns.get(index)
  }

  /** The turn must not be in the cache yet. */
  add(index: number, turn: Turn): void {
    this.#turns.set(index, turn)
    this.#characters += textLengthOf(turn)
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_CACHED_TURNS && this.#characters <= MAX_CACHED_CHARACTERS) return
      this.#drop(oldest)
    }
  }

  #drop(index: number): void {
    const turn = this.#turns.get(index)
    this.#turns.delete(index)
    if (turn !== undefined) this.#characters -= textLengthOf(turn)
  }
}

function textLengthOf({ trigger, steps }: Turn): number {
  return steps.reduce((sum, step) => sum + stepText(step).length, trigger?.text.length ?? 0)
}

function stepText(step: TurnStep): string {
  return step.kind === 'ask' ? step.request.text : step.message.text
}
