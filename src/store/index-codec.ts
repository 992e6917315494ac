import { isObject, member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Fingerprint } from './fingerprint.ts'
import { mapColumns } from './index-columns.ts'
import { isCount, readAbout, readKinds, readLabels } from './index-facts.ts'
import { WHOLE_BYTES, WIDE_BYTES, type IndexFile } from './index-file.ts'
import type { NumberArray, NumberColumn } from './number-column.ts'
import type { IndexColumns, MadeIndex, TapeIndex } from './tape-index.ts'

/** An index as the bytes of a file: a head, the facts as JSON, then column after column as they stand in memory. */
export function encodeIndex(index: MadeIndex, fingerprint: Fingerprint): readonly Uint8Array[] {
  const { turns, labels, kinds, about, slots, stepTurn } = index
  const counts: Counts = { turns, steps: stepTurn.length, slots: slots.length }
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
  head.writeUInt32LE(facts.length, MAGIC.length + WHOLE_BYTES)
  const parts: Uint8Array[] = [head, facts]
  mapColumns(index, (numbers) => parts.push(bytesOf(numbers)))
  return parts
}

/** The index in a file, its columns still there; none when the file is broken, of another version, or of another tape. */
export function indexIn(file: IndexFile, fingerprint: Fingerprint): TapeIndex | undefined {
  const head = Buffer.from(file.read(0, Math.min(file.bytes, FIRST_BYTES)))
  if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  if (head.readUInt32LE(MAGIC.length) !== VERSION) return undefined
  const end = HEAD_BYTES + head.readUInt32LE(MAGIC.length + WHOLE_BYTES)
  if (end > Math.min(file.bytes, MOST_FACTS_BYTES)) return undefined
  const whole = end <= head.length ? head : Buffer.from(file.read(0, end))
  const facts = parseJson(whole.toString('utf8', HEAD_BYTES, end))
  const counts = readCounts(member(facts, 'counts'))
  const labels = readLabels(member(facts, 'labels'))
  const kinds = readKinds(member(facts, 'kinds'))
  const about = readAbout(member(facts, 'about'))
  if (counts === undefined || labels === undefined || kinds === undefined || about === undefined)
    return undefined
  if (JSON.stringify(member(facts, 'fingerprint')) !== JSON.stringify(fingerprint)) return undefined
  const columns = columnsIn(file, end, counts)
  return columns === undefined ? undefined : { turns: counts.turns, labels, kinds, about, ...columns }
}

const MAGIC = Buffer.from('reelayix')
/** To be counted up when the columns change, and when `requestKey` does. */
const VERSION = 3
const HEAD_BYTES = 16
const FIRST_BYTES = 16 * 1024
const MOST_FACTS_BYTES = 16 * 1024 * 1024
const MOST_ROWS = 0x3fffffff

interface Counts {
  readonly turns: number
  readonly steps: number
  readonly slots: number
}

interface Shape {
  readonly rows: keyof Counts
  readonly bytes: number
}

const ofTurns: Shape = { rows: 'turns', bytes: WHOLE_BYTES }
const ofSteps: Shape = { rows: 'steps', bytes: WHOLE_BYTES }
const wideOfTurns: Shape = { rows: 'turns', bytes: WIDE_BYTES }
const wideOfSteps: Shape = { rows: 'steps', bytes: WIDE_BYTES }

const SHAPES: IndexColumns<Shape> = {
  frame: wideOfTurns,
  triggerAt: wideOfTurns,
  responseAt: wideOfTurns,
  stepAt: wideOfSteps,
  answerAt: wideOfSteps,
  triggerLength: ofTurns,
  responseLength: ofTurns,
  hashLow: ofTurns,
  hashHigh: ofTurns,
  mark: ofTurns,
  sketch: ofTurns,
  next: ofTurns,
  slots: { rows: 'slots', bytes: WHOLE_BYTES },
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

function readCounts(value: unknown): Counts | undefined {
  if (!isObject(value)) return undefined
  const { turns, steps, slots } = value
  if (!isRows(turns) || !isRows(steps) || !isRows(slots)) return undefined
  const isPowerOfTwo = slots > 0 && (slots & (slots - 1)) === 0
  return isPowerOfTwo ? { turns, steps, slots } : undefined
}

function isRows(value: unknown): value is number {
  return isCount(value) && value <= MOST_ROWS
}

function columnsIn(file: IndexFile, start: number, counts: Counts): IndexColumns<NumberColumn> | undefined {
  let at = start
  const columns = mapColumns(SHAPES, ({ rows, bytes }) => {
    const length = counts[rows]
    at += length * bytes
    return bytes === WIDE_BYTES
      ? file.wide(at - length * bytes, length)
      : file.whole(at - length * bytes, length)
  })
  return at === file.bytes ? columns : undefined
}
