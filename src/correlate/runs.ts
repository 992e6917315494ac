/**
 * The runs of letters and digits that a text is made of; a uuid is one of them. Its groups are short and no values by
 * themselves: among many uuids each of them stands in another one, or is some number of the client, by chance.
 */
export const WORD_RUNS: RegExp = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\p{L}\p{N}])|[\p{L}\p{N}]+/giu

/** Whether a run of plain letters and digits goes on at a character, of which so many belong to it already. */
export function continuesRun(text: string, at: number, length: number): boolean {
  const code = text.charCodeAt(at)
  return isAsciiAlphanumeric(code) || (code === DASH && isUuidDash(length) && isUuidAt(text, at - length))
}

export function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isUuidAt(text: string, start: number): boolean {
  for (let at = 0; at < UUID_LENGTH; at++) {
    const code = text.charCodeAt(start + at)
    if (isUuidDash(at) ? code !== DASH : !isHexDigit(code)) return false
  }
  return !isAsciiAlphanumeric(text.charCodeAt(start + UUID_LENGTH))
}

const UUID_LENGTH = 36
const DASH = 0x2d

function isUuidDash(at: number): boolean {
  return at === 8 || at === 13 || at === 18 || at === 23
}

function isAsciiAlphanumeric(code: number): boolean {
  return isAsciiLetter(code) || isDigit(code)
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x61 && code <= 0x66) || (code >= 0x41 && code <= 0x46)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
