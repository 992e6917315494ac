import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { parseJson } from '../../json/parse.ts'
import { isObject, member } from '../../protocol/message.ts'
import { PagedColumn, type NumberArray, type NumberColumn } from '../columns.ts'
import type { TapeProblem } from '../file/frame-reader.ts'
import {
  type IndexData,
  type TapeIndex,
  mapIndexColumns,
  type IndexColumns,
  type IndexedTapeFacts,
  type TurnKindCount,
  type TurnLabel,
} from './tape-index.ts'

// The index of a tape in a file beside it only saves time: whatever is wrong with it, it is as if it were not there.

/** An index whose columns are read from its file. */
export interface OpenIndex {
  readonly index: TapeIndex
  /** Gives the file back; it may be called twice. */
  close(): void
}

/** Opens the index of a tape, if there is one and it is of this very tape. */
export function openIndexFile(tape: string, fingerprint: TapeFingerprint): OpenIndex | undefined {
  try {
    const file = new IndexFile(indexPathFor(tape))
    const index = decodeIndex(file, fingerprint)
    if (index !== undefined) return { index, close: () => file.close() }
    file.close()
  } catch {
    // not there, or not ours to read: the tape is looked through instead
  }
  return undefined
}

/** Writes the index as a whole or not at all; a folder that cannot be written to goes without. */
export async function writeIndexFile(
  tape: string,
  index: IndexData,
  fingerprint: TapeFingerprint,
): Promise<void> {
  const path = indexPathFor(tape)
  const draft = `${path}.${process.pid}.new`
  try {
    await writeParts(draft, encodeIndex(index, fingerprint))
    await rename(draft, path)
  } catch {
    await rm(draft, { force: true }).catch(() => {}) // it will be tried again the next time
  }
}

function indexPathFor(tape: string): string {
  return `${tape}.idx`
}

async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}

/** What tells whether a tape is still the one that an index was made of. */
export interface TapeFingerprint {
  readonly bytes: number
  readonly modified: number
  /** The beginning and the end, in Base64. */
  readonly ends: string
}

const END_BYTES = 1024

export function tapeFingerprintOf(path: string): TapeFingerprint {
  const fd = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(fd)
    const length = Math.min(size, END_BYTES)
    const ends = Buffer.alloc(length * 2)
    readSync(fd, ends, 0, length, 0)
    readSync(fd, ends, length, length, size - length)
    return { bytes: size, modified: mtimeMs, ends: ends.toString('base64') }
  } finally {
    closeSync(fd)
  }
}

/** The file of an index, of which single numbers are read. It may be anyone's, and it may change: what is not there is 0. */
class IndexFile {
  readonly bytes: number
  #fd: number | undefined

  constructor(path: string) {
    const fd = openSync(path, 'r')
    this.#fd = fd
    this.bytes = fstatSync(fd).size
  }

  read(at: number, length: number): ArrayBuffer {
    const bytes = new ArrayBuffer(length)
    if (this.#fd !== undefined && length > 0) readSync(this.#fd, new Uint8Array(bytes), 0, length, at)
    return bytes
  }

  float64ColumnAt(at: number, length: number): PagedColumn {
    return new PagedColumn(
      length,
      (first, count) => new Float64Array(this.read(at + first * FLOAT64_BYTES, count * FLOAT64_BYTES)),
    )
  }

  uint32ColumnAt(at: number, length: number): PagedColumn {
    return new PagedColumn(
      length,
      (first, count) => new Uint32Array(this.read(at + first * UINT32_BYTES, count * UINT32_BYTES)),
    )
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

const FLOAT64_BYTES = 8
const UINT32_BYTES = 4

/** An index as the bytes of a file: a head, the facts as JSON, then column after column as they stand in memory. */
function encodeIndex(index: IndexData, fingerprint: TapeFingerprint): readonly Uint8Array[] {
  const { turns, labels, kinds, about, slots, stepTurn } = index
  const counts: RowCounts = { turns, steps: stepTurn.length, slots: slots.length }
  const facts = Buffer.from(
    JSON.stringify({
      fingerprint,
      counts,
      labels: labels.map(({ server, method, name }) => [
        server,
        method,
        ...(name === undefined ? [] : [name]),
      ]),
      kinds: kinds.map(({ mark, count, first }) => [mark, count, first]),
      about,
    }),
  )
  const head = Buffer.alloc(HEAD_BYTES)
  MAGIC.copy(head)
  head.writeUInt32LE(VERSION, MAGIC.length)
  head.writeUInt32LE(facts.length, MAGIC.length + UINT32_BYTES)
  const parts: Uint8Array[] = [head, facts]
  mapIndexColumns(index, (numbers) => parts.push(bytesOf(numbers)))
  return parts
}

/** The index in a file, its columns still there; none when the file is broken, of another version, or of another tape. */
function decodeIndex(file: IndexFile, fingerprint: TapeFingerprint): TapeIndex | undefined {
  const head = Buffer.from(file.read(0, Math.min(file.bytes, FIRST_BYTES)))
  if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  if (head.readUInt32LE(MAGIC.length) !== VERSION) return undefined
  const end = HEAD_BYTES + head.readUInt32LE(MAGIC.length + UINT32_BYTES)
  if (end > Math.min(file.bytes, MAX_FACTS_BYTES)) return undefined
  const whole = end <= head.length ? head : Buffer.from(file.read(0, end))
  const facts = parseJson(whole.toString('utf8', HEAD_BYTES, end))
  const counts = readCounts(member(facts, 'counts'))
  const labels = readLabels(member(facts, 'labels'))
  const kinds = readKinds(member(facts, 'kinds'))
  const about = readTapeFacts(member(facts, 'about'))
  if (counts === undefined || labels === undefined || kinds === undefined || about === undefined)
    return undefined
  if (JSON.stringify(member(facts, 'fingerprint')) !== JSON.stringify(fingerprint)) return undefined
  const columns = columnsInFile(file, end, counts)
  return columns === undefined ? undefined : { turns: counts.turns, labels, kinds, about, ...columns }
}

const MAGIC = Buffer.from('reelayix')
/** To be counted up when the columns change, and when `requestKey` does. */
const VERSION = 3
const HEAD_BYTES = 16
const FIRST_BYTES = 16 * 1024
const MAX_FACTS_BYTES = 16 * 1024 * 1024
const MAX_ROWS = 0x3fffffff

interface RowCounts {
  readonly turns: number
  readonly steps: number
  readonly slots: number
}

interface ColumnShape {
  readonly rows: keyof RowCounts
  readonly bytes: number
}

const ofTurns: ColumnShape = { rows: 'turns', bytes: UINT32_BYTES }
const ofSteps: ColumnShape = { rows: 'steps', bytes: UINT32_BYTES }
const float64OfTurns: ColumnShape = { rows: 'turns', bytes: FLOAT64_BYTES }
const float64OfSteps: ColumnShape = { rows: 'steps', bytes: FLOAT64_BYTES }

const COLUMN_SHAPES: IndexColumns<ColumnShape> = {
  frame: float64OfTurns,
  triggerAt: float64OfTurns,
  responseAt: float64OfTurns,
  stepAt: float64OfSteps,
  answerAt: float64OfSteps,
  triggerLength: ofTurns,
  responseLength: ofTurns,
  hashLow: ofTurns,
  hashHigh: ofTurns,
  mark: ofTurns,
  sketch: ofTurns,
  next: ofTurns,
  slots: { rows: 'slots', bytes: UINT32_BYTES },
  stepTurn: ofSteps,
  stepKind: ofSteps,
  stepLength: ofSteps,
  stepItem: ofSteps,
  answerLength: ofSteps,
  answerItem: ofSteps,
}

function bytesOf({ buffer, byteOffset, byteLength }: NumberArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function readCounts(value: unknown): RowCounts | undefined {
  if (!isObject(value)) return undefined
  const { turns, steps, slots } = value
  if (!isRowCount(turns) || !isRowCount(steps) || !isRowCount(slots)) return undefined
  const isPowerOfTwo = slots > 0 && (slots & (slots - 1)) === 0
  return isPowerOfTwo ? { turns, steps, slots } : undefined
}

function isRowCount(value: unknown): value is number {
  return isUint32(value) && value <= MAX_ROWS
}

function columnsInFile(
  file: IndexFile,
  start: number,
  counts: RowCounts,
): IndexColumns<NumberColumn> | undefined {
  let at = start
  const columns = mapIndexColumns(COLUMN_SHAPES, ({ rows, bytes }) => {
    const length = counts[rows]
    at += length * bytes
    return bytes === FLOAT64_BYTES
      ? file.float64ColumnAt(at - length * bytes, length)
      : file.uint32ColumnAt(at - length * bytes, length)
  })
  return at === file.bytes ? columns : undefined
}

/** Reads the labels of an index file; none when they are no list of names. */
function readLabels(value: unknown): readonly TurnLabel[] | undefined {
  if (!Array.isArray(value)) return undefined
  const labels = value.map(readLabel)
  return labels.every((label) => label !== undefined) ? labels : undefined
}

function readLabel(value: unknown): TurnLabel | undefined {
  if (!isStringArray(value) || value.length < 2 || value.length > 3) return undefined
  const [server = '', method = '', name] = value
  return { server, method, name }
}

/** Reads how many turns of each kind there are; none when it is no list of counts. */
function readKinds(value: unknown): readonly TurnKindCount[] | undefined {
  if (!Array.isArray(value)) return undefined
  const kinds = value.map(readKind)
  return kinds.every((kind) => kind !== undefined) ? kinds : undefined
}

function readKind(value: unknown): TurnKindCount | undefined {
  if (!Array.isArray(value)) return undefined
  const [mark, count, first] = value
  return isUint32(mark) && isUint32(count) && isUint32(first) ? { mark, count, first } : undefined
}

/** A whole number that fits in a column. */
function isUint32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff
}

/** Reads what an index file says of the tape as a whole. */
function readTapeFacts(value: unknown): IndexedTapeFacts | undefined {
  if (!isObject(value)) return undefined
  const { ended, problems, joined } = value
  if (typeof ended !== 'boolean' || !Array.isArray(problems) || !isStringArray(joined)) return undefined
  return problems.every(isProblem) ? { ended, problems, joined } : undefined
}

function isProblem(value: unknown): value is TapeProblem {
  return isObject(value) && typeof value['line'] === 'number' && typeof value['why'] === 'string'
}

function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
