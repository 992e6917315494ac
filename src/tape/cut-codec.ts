import { isId } from '../protocol/id.ts'
import { isObject } from '../protocol/message.ts'
import type { RawFrame } from './frame.ts'

/** Reads what a frame says of a message that was cut: nothing when it says nothing, and why when that cannot be read. */
export function readCut(value: unknown): Pick<RawFrame, 'cut'> | string {
  if (value === undefined) return {}
  if (!isObject(value)) return '"cut" is not an object'
  const { bytes, id, method } = value
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    return '"cut.bytes" is not a length'
  if (id !== undefined && !isId(id)) return '"cut.id" is neither a string nor a number'
  if (method !== undefined && typeof method !== 'string') return '"cut.method" is not a string'
  return { cut: { bytes, ...(id === undefined ? {} : { id }), ...(method === undefined ? {} : { method }) } }
}
