/** The value of a JSON text; undefined, which is no JSON value, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // text from outside is often no JSON: the caller says what that means
  }
}

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

/** In valid JSON a line break is white space: a message that was sent over several lines still fits into one. */
export function jsonOnOneLine(json: string): string {
  return LINE_BREAK.test(json) ? json.replaceAll(LINE_BREAKS, ' ') : json
}

const LINE_BREAK = /[\r\n]/
const LINE_BREAKS = /[\r\n]/g

/** Envelopes are written byte by byte as Latin-1, so a name outside ASCII is escaped. */
export function toAsciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
