import { parseJson } from '../json/parse.ts'

const [ZERO, NINE] = [0x30, 0x39]
const SAFE_DIGITS = 15

/** The value of an id in its bytes. Most are short numbers, and to make a text of each would take longer than to count. */
export function parseIdBytes(bytes: Buffer, start: number, end: number): unknown {
  let value = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE || end - start > SAFE_DIGITS)
      return parseJson(bytes.toString('utf8', start, end))
    value = value * 10 + byte - ZERO
  }
  return value
}
