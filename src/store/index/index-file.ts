import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { parseJson, isObject, member } from '../../json/parse.ts'
import {
  ArrayColumn,
  mapRecord,
  type NumberArray,
  type NumberColumn,
  type NumberType,
  PAGE_ROWS,
  PagedColumn,
} from '../columns.ts'
import type { TapeProblem } from '../file/frame-reader.ts'
import { replaceFile } from '../file/replace-file.ts'
import {
  type IndexedTapeFacts,
  type IndexTables,
  STEP_COLUMNS,
  TapeIndex,
  TURN_COLUMNS,
  type TurnKindCount,
  type TurnLabel,
} from './tape-index.ts'

// The index in a file beside a tape only saves time. A file that is damaged or out of date is ignored and replaced. Every page
// has a checksum, which is verified when the page is read: in a damaged page, a request that is on the tape could be missing.

/** An index whose columns are read from its file. */
export interface OpenIndex {
  readonly index: TapeIndex
  /** Closes the file. Closing it again does nothing. */
  close(): void
}

/**
 * Returns `undefined` if there is no index file, or if it does not belong to this version of the tape. `rebuild` makes the tables
 * again from the tape. It is called if a page of the file turns out to be damaged.
 */
export function openIndexFile(
  tape: string,
  fingerprint: TapeFingerprint,
  rebuild: () => IndexTables<NumberArray> | undefined,
): OpenIndex | undefined {
  try {
    const file = new IndexFile(indexPathFor(tape), rebuild)
    const tables = decodeIndex(file, fingerprint)
    if (tables !== undefined) return { index: new TapeIndex(tables), close: () => file.close() }
    file.close()
  } catch {
    // The file does not exist or cannot be read: the caller builds an index instead.
  }
  return undefined
}

/** Writes the complete index file, or none if the folder is not writable. */
export async function writeIndexFile(
  tape: string,
  index: IndexTables<NumberArray>,
  fingerprint: TapeFingerprint,
): Promise<void> {
  try {
    await replaceFile(indexPathFor(tape), (draft) => writeParts(draft, encodeIndex(index, fingerprint)))
  } catch {
    // The next run tries again.
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

/** Identifies a version of a tape: an index belongs to the tape with the same fingerprint. */
export interface TapeFingerprint {
  readonly bytes: number
  readonly modified: number
  /** The beginning and the end of the file, in Base64. */
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

/** Reads columns from an index file. A damaged page is replaced by the same rows of a new index, or by zeros if there is none. */
class IndexFile {
  readonly bytes: number
  readonly #rebuild: () => IndexTables<NumberArray> | undefined
  #rebuilt: ReadonlyMap<ColumnKey, NumberArray> | undefined
  #fd: number | undefined

  constructor(path: string, rebuild: () => IndexTables<NumberArray> | undefined) {
    const fd = openSync(path, 'r')
    this.#fd = fd
    this.#rebuild = rebuild
    this.bytes = fstatSync(fd).size
  }

  read(at: number, length: number): ArrayBuffer {
    const bytes = new ArrayBuffer(length)
    if (this.#fd !== undefined && length > 0) readSync(this.#fd, new Uint8Array(bytes), 0, length, at)
    return bytes
  }

  column(key: ColumnKey, type: NumberType, { at, rows, checksumsAt }: ColumnPlace): NumberColumn {
    const bytes = NUMBER_BYTES[type]
    return new PagedColumn(rows, (first, count) => {
      const page = this.read(at + first * bytes, count * bytes)
      const checksum = this.read(checksumsAt + (first / PAGE_ROWS) * CHECKSUM_BYTES, CHECKSUM_BYTES)
      if (crc32(new Uint8Array(page)) !== new Uint32Array(checksum)[0])
        return this.#rebuiltPage(key, first, count)
      return type === 'float64' ? new Float64Array(page) : new Uint32Array(page)
    })
  }

  #rebuiltPage(key: ColumnKey, first: number, count: number): NumberArray {
    this.#rebuilt ??= new Map(this.#tablesAgain())
    return this.#rebuilt.get(key)?.slice(first, first + count) ?? new Uint32Array(count)
  }

  #tablesAgain(): readonly (readonly [ColumnKey, NumberArray])[] {
    try {
      const tables = this.#rebuild()
      return tables === undefined ? [] : inFileOrder(tables, isFloat64)
    } catch {
      return [] // the tape cannot be read any more
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

interface ColumnPlace {
  readonly at: number
  readonly rows: number
  /** Where the checksums of its pages begin. */
  readonly checksumsAt: number
}

const CHECKSUM_BYTES = 4

function isFloat64(numbers: NumberArray): boolean {
  return numbers instanceof Float64Array
}

const NUMBER_BYTES = { float64: 8, uint32: 4 } as const satisfies Record<NumberType, number>

/** An index file is a head, the facts as JSON, column after column as they are in memory, and the checksums of their pages. */
function encodeIndex(index: IndexTables<NumberArray>, fingerprint: TapeFingerprint): readonly Uint8Array[] {
  const { turns, steps, slots, labels, kinds, about } = index
  const counts: RowCounts = { turns: turns.mark.length, steps: steps.turn.length, slots: slots.length }
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
  head.writeUInt32LE(facts.length, FACTS_LENGTH_AT)
  head.writeUInt32LE(crc32(facts), FACTS_CHECKSUM_AT)
  const columns = inFileOrder({ turns, slots, steps }, isFloat64)
  const checksums = Uint32Array.from(columns.flatMap(([, numbers]) => pageChecksums(numbers)))
  return [head, facts, ...columns.map(([, numbers]) => bytesOf(numbers)), bytesOf(checksums)]
}

function pageChecksums(numbers: NumberArray): readonly number[] {
  return Array.from({ length: pagesOf(numbers.length) }, (_, page) =>
    crc32(bytesOf(numbers.subarray(page * PAGE_ROWS, (page + 1) * PAGE_ROWS))),
  )
}

function pagesOf(rows: number): number {
  return Math.ceil(rows / PAGE_ROWS)
}

/** Returns `undefined` if the file is damaged, has another version, or belongs to another tape. */
function decodeIndex(file: IndexFile, fingerprint: TapeFingerprint): IndexTables<NumberColumn> | undefined {
  const head = Buffer.from(file.read(0, Math.min(file.bytes, FIRST_BYTES)))
  if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  if (head.readUInt32LE(MAGIC.length) !== VERSION) return undefined
  const end = HEAD_BYTES + head.readUInt32LE(FACTS_LENGTH_AT)
  if (end > Math.min(file.bytes, MAX_FACTS_BYTES)) return undefined
  const whole = end <= head.length ? head : Buffer.from(file.read(0, end))
  if (crc32(whole.subarray(HEAD_BYTES, end)) !== head.readUInt32LE(FACTS_CHECKSUM_AT)) return undefined
  const facts = parseJson(whole.toString('utf8', HEAD_BYTES, end))
  const counts = readCounts(member(facts, 'counts'))
  const labels = readList(member(facts, 'labels'), readLabel)
  const kinds = readList(member(facts, 'kinds'), readKind)
  const about = readTapeFacts(member(facts, 'about'))
  if (counts === undefined || labels === undefined || kinds === undefined || about === undefined)
    return undefined
  if (JSON.stringify(member(facts, 'fingerprint')) !== JSON.stringify(fingerprint)) return undefined
  const columns = columnsInFile(file, end, counts)
  return columns === undefined ? undefined : { ...columns, labels, kinds, about }
}

const MAGIC = Buffer.from('reelayix')
/** Must be increased when the columns or `requestKey` change. */
const VERSION = 5
const FACTS_LENGTH_AT = 12
const FACTS_CHECKSUM_AT = 16
const HEAD_BYTES = 20
const FIRST_BYTES = 16 * 1024
const MAX_FACTS_BYTES = 16 * 1024 * 1024
const MAX_ROWS = 0x3fffffff

interface RowCounts {
  readonly turns: number
  readonly steps: number
  readonly slots: number
}

function bytesOf({ buffer, byteOffset, byteLength }: NumberArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

type ColumnKey = 'slots' | `turns.${string}` | `steps.${string}`

/** All columns in the order of the file: those of 8 bytes per number come first. */
function inFileOrder<Column>(
  tables: {
    readonly turns: Readonly<Record<string, Column>>
    readonly slots: Column
    readonly steps: Readonly<Record<string, Column>>
  },
  isWide: (column: Column) => boolean,
): readonly (readonly [key: ColumnKey, column: Column])[] {
  const columns: (readonly [ColumnKey, Column])[] = []
  for (const [name, column] of Object.entries(tables.turns)) columns.push([`turns.${name}`, column])
  columns.push(['slots', tables.slots])
  for (const [name, column] of Object.entries(tables.steps)) columns.push([`steps.${name}`, column])
  return [
    ...columns.filter(([, column]) => isWide(column)),
    ...columns.filter(([, column]) => !isWide(column)),
  ]
}

function columnsInFile(
  file: IndexFile,
  start: number,
  counts: RowCounts,
): Pick<IndexTables<NumberColumn>, 'turns' | 'slots' | 'steps'> | undefined {
  const types = { turns: TURN_COLUMNS, slots: 'uint32', steps: STEP_COLUMNS } as const
  const columns = new Map<ColumnKey, NumberColumn>()
  const order = inFileOrder<NumberType>(types, (wanted) => wanted === 'float64').map(([key, type]) => {
    const rows = key === 'slots' ? counts.slots : key.startsWith('turns') ? counts.turns : counts.steps
    return { key, type, rows }
  })
  let at = start
  let checksumsAt = order.reduce((sum, { type, rows }) => sum + rows * NUMBER_BYTES[type], start)
  for (const { key, type, rows } of order) {
    columns.set(key, file.column(key, type, { at, rows, checksumsAt }))
    at += rows * NUMBER_BYTES[type]
    checksumsAt += pagesOf(rows) * CHECKSUM_BYTES
  }
  const column = (key: ColumnKey): NumberColumn => columns.get(key) ?? new ArrayColumn(new Uint32Array(0))
  return checksumsAt !== file.bytes
    ? undefined
    : {
        turns: mapRecord(TURN_COLUMNS, (_, name) => column(`turns.${name}`)),
        slots: column('slots'),
        steps: mapRecord(STEP_COLUMNS, (_, name) => column(`steps.${name}`)),
      }
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

function isUint32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff
}

/** Returns `undefined` unless every item of a list is valid. */
function readList<Item>(
  value: unknown,
  readItem: (item: unknown) => Item | undefined,
): readonly Item[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map(readItem)
  return items.every((item) => item !== undefined) ? items : undefined
}

function readLabel(value: unknown): TurnLabel | undefined {
  if (!isStringArray(value) || value.length < 2 || value.length > 3) return undefined
  const [server = '', method = '', name] = value
  return { server, method, name }
}

function readKind(value: unknown): TurnKindCount | undefined {
  if (!Array.isArray(value)) return undefined
  const [mark, count, first] = value
  return isUint32(mark) && isUint32(count) && isUint32(first) ? { mark, count, first } : undefined
}

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
