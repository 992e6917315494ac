/** Says of the bytes at a place whether they are what must stand there. */
export type ByteTest = (bytes: Uint8Array, at: number, end: number) => boolean

/** On the same line an option of one letter follows that takes a password in some programs. */
export const isPasswordOptionNear: ByteTest = (bytes, at, end) => {
  const last = Math.min(end - 2, at + LONGEST_LINE)
  for (let next = at; next < last; next++) {
    if (bytes[next] === NEWLINE) return false
    if (bytes[next] === SPACE && bytes[next + 1] === DASH && OPTIONS.includes(bytes[next + 2]!)) return true
  }
  return false
}

/** What stands here in a URL is followed by an `@`, so somebody is named before the host. */
export const isUserinfo: ByteTest = (bytes, at, end) => {
  const last = Math.min(end, at + LONGEST_USERINFO)
  for (let next = at; next < last; next++) {
    if (bytes[next] === AT) return next > at
    if (bytes[next]! <= SPACE || NO_USERINFO.includes(bytes[next]!)) return false
  }
  return false
}

/** Letters and digits go on here for long. */
export const isLongWord: ByteTest = (bytes, at, end) => {
  const last = at + LONG_WORD
  if (last > end) return false
  for (let next = at; next < last; next++) if (!isLetterOrDigit(bytes[next]!)) return false
  return true
}

/** Two hex digits of a letter, a digit or a dash: nobody needs to spell these as escapes, so a keyword may hide in them. */
export const isEscapedLetter: ByteTest = (bytes, at) => {
  const first = bytes[at] ?? 0
  return (
    (first >= 0x34 && first <= 0x37) ||
    (first === 0x33 && bytes[at + 1]! < 0x3a) ||
    (first === 0x32 && bytes[at + 1]! > 0x60)
  )
}

/** These words make no secret of a token. */
export const isCursorWordBefore: ByteTest = (bytes, at) =>
  CURSOR_WORDS.some((word) =>
    word.every((byte, index) => ((bytes[at - word.length + index] ?? 0) | 0x20) === byte),
  )

const LONGEST_LINE = 320
const LONG_WORD = 24
const LONGEST_USERINFO = 250
const [NEWLINE, SPACE, DASH, AT] = [0x0a, 0x20, 0x2d, 0x40]
const encoder = new TextEncoder()
const OPTIONS = encoder.encode('uUpPaw-')
const NO_USERINFO = encoder.encode(`/?#"'<>\\`)
const CURSOR_WORDS = ['progress', 'page', 'sync', 'continuation', 'cancellation'].map((word) => [
  ...encoder.encode(word),
])

export function isNameByte(byte: number): boolean {
  return isLetterOrDigit(byte) || byte === 0x5f || byte === 0x2d || byte === 0x2e
}

function isLetterOrDigit(byte: number): boolean {
  const letter = byte | 0x20
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39)
}
