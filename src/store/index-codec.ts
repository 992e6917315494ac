import { isObject, member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Fingerprint } from './fingerprint.ts'
import { readAbout, readLabels } from './index-facts.ts'
import type { TapeIndex } from './tape-index.ts'

/** An index as the bytes of a file: a head, the facts as JSON, then column after column as they stand in memory. */
export function encodeIndex(index: TapeIndex, fingerprint: Fingerprint): Uint8Array {
  const { turns, labels, about, slots, stepTurn } = index
  const counts: Counts = { turns, steps: stepTurn.length, slots: slots.length }
  const names = labels.map(({ server, method }) => [server, method])
  const facts = Buffer.from(JSON.stringify({ fingerprint, counts, labels: names, about }))
  const head = Buffer.alloc(HEAD_BYTES)
  MAGIC.copy(head)
  new Uint32Array(head.buffer, head.byteOffset + MAGIC.length, 2).set([VERSION, facts.length])
  const columns = [...WIDE, ...WHOLE].map((name) => bytesOf(index[name]))
  return Buffer.concat([head, facts, Buffer.alloc(padding(facts.length)), ...columns])
}

/** The index in a file; none when the file is broken, of another version, or of another tape. */
export function decodeIndex(bytes: ArrayBuffer, fingerprint: Fingerprint): TapeIndex | undefined {
  const file = Buffer.from(bytes)
  if (file.length < HEAD_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  const [version, length = 0] = new Uint32Array(bytes, MAGIC.length, 2)
  if (version !== VERSION) return undefined
  const facts = parseJson(file.toString('utf8', HEAD_BYTES, HEAD_BYTES + length))
  const counts = readCounts(member(facts, 'counts'))
  const labels = readLabels(member(facts, 'labels'))
  const about = readAbout(member(facts, 'about'))
  if (counts === undefined || labels === undefined || about === undefined) return undefined
  if (JSON.stringify(member(facts, 'fingerprint')) !== JSON.stringify(fingerprint)) return undefined
  const columns = columnsIn(bytes, HEAD_BYTES + length + padding(length), counts)
  return columns === undefined ? undefined : { turns: counts.turns, labels, about, ...columns }
}

const MAGIC = Buffer.from('reelayix')
/** To be counted up when the columns change, and when `requestKey` does. */
const VERSION = 2
const HEAD_BYTES = 16
const WIDE_BYTES = 8
const WHOLE_BYTES = 4
const MOST_ROWS = 0x3fffffff

// In the order in which they are read; the wide columns come first, so that all of them are aligned.
const WIDE = ['frame', 'triggerAt', 'responseAt', 'stepAt', 'answerAt'] as const
const WHOLE = [
  'triggerLength',
  'responseLength',
  'hashLow',
  'hashHigh',
  'mark',
  'next',
  'slots',
  'stepTurn',
  'stepKind',
  'stepLength',
  'stepItem',
  'answerLength',
  'answerItem',
] as const

interface Counts {
  readonly turns: number
  readonly steps: number
  readonly slots: number
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function padding(length: number): number {
  return -length & 7
}

function readCounts(value: unknown): Counts | undefined {
  if (!isObject(value)) return undefined
  const { turns, steps, slots } = value
  if (!isCount(turns) || !isCount(steps) || !isCount(slots)) return undefined
  const isPowerOfTwo = slots > 0 && (slots & (slots - 1)) === 0
  return isPowerOfTwo ? { turns, steps, slots } : undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_ROWS
}

type Columns = Omit<TapeIndex, 'turns' | 'labels' | 'about'>

function columnsIn(bytes: ArrayBuffer, start: number, { turns, steps, slots }: Counts): Columns | undefined {
  let at = start
  const total = WIDE_BYTES * (3 * turns + 2 * steps) + WHOLE_BYTES * (6 * turns + slots + 6 * steps)
  if (at + total !== bytes.byteLength) return undefined
  const wide = (length: number): Float64Array => {
    at += length * WIDE_BYTES
    return new Float64Array(bytes, at - length * WIDE_BYTES, length)
  }
  const whole = (length: number): Uint32Array => {
    at += length * WHOLE_BYTES
    return new Uint32Array(bytes, at - length * WHOLE_BYTES, length)
  }
  return {
    frame: wide(turns),
    triggerAt: wide(turns),
    responseAt: wide(turns),
    stepAt: wide(steps),
    answerAt: wide(steps),
    triggerLength: whole(turns),
    responseLength: whole(turns),
    hashLow: whole(turns),
    hashHigh: whole(turns),
    mark: whole(turns),
    next: whole(turns),
    slots: whole(slots),
    stepTurn: whole(steps),
    stepKind: whole(steps),
    stepLength: whole(steps),
    stepItem: whole(steps),
    answerLength: whole(steps),
    answerItem: whole(steps),
  }
}
