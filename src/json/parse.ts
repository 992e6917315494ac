/** Parses JSON. Returns `undefined` if the text is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller decides what invalid text means.
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own member of an object. Inherited names such as `constructor` are not members. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Replaces line breaks by spaces. In valid JSON they are only white space. */
export function jsonOnOneLine(json: string): string {
  return LINE_BREAK.test(json) ? json.replaceAll(LINE_BREAKS, ' ') : json
}

const LINE_BREAK = /[\r\n]/
const LINE_BREAKS = /[\r\n]/g

/** Removes the white space between the tokens of valid JSON. Numbers and escapes keep their spelling. */
export function compactJson(json: string): string {
  return json.replaceAll(STRING_OR_SPACE, (found) => (found.startsWith('"') ? found : ''))
}

const STRING_OR_SPACE = /"(?:[^"\\]|\\.)*"|\s+/g

/** Encodes a string as JSON in ASCII. */
export function toAsciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
