/** Envelopes are written byte by byte as Latin-1, so a name outside ASCII is escaped. */
export function toAsciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
