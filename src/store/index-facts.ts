import { isObject } from '../protocol/message.ts'
import type { TapeProblem } from './line-checks.ts'
import type { IndexedTapeFacts, TurnKindCount, TurnLabel } from './index/tape-index.ts'

/** Reads the labels of an index file; none when they are no list of names. */
export function readLabels(value: unknown): readonly TurnLabel[] | undefined {
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
export function readKinds(value: unknown): readonly TurnKindCount[] | undefined {
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
export function isUint32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff
}

/** Reads what an index file says of the tape as a whole. */
export function readTapeFacts(value: unknown): IndexedTapeFacts | undefined {
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
