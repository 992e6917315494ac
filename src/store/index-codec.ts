import { isObject, member } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import type { TapeFingerprint } from './fingerprint.ts'
import { mapIndexColumns } from './index-columns.ts'
import { isUint32, readTapeFacts, readKinds, readLabels } from './index-facts.ts'
import { UINT32_BYTES, FLOAT64_BYTES, type IndexFile } from './index-file.ts'
import type { NumberArray, NumberColumn } from './number-column.ts'
import type { IndexColumns, IndexData, TapeIndex } from './index/tape-index.ts'

/** An index as the bytes of a file: a head, the facts as JSON, then column after column as they stand in memory. */
export function encodeIndex(index: IndexData, fingerprint: TapeFingerprint): readonly Uint8Array[] {
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
export function decodeIndex(file: IndexFile, fingerprint: TapeFingerprint): TapeIndex | undefined {
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
