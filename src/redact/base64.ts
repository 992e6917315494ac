const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const URL_SAFE = `${STANDARD.slice(0, 62)}-_`

/** Both alphabets at once: they differ in two characters, which mean the same. */
const VALUES: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => {
  const char = String.fromCharCode(code)
  return Math.max(STANDARD.indexOf(char), URL_SAFE.indexOf(char), 0)
})

/** Base64 of a text whose characters are bytes, without padding. */
export function toBase64(bytes: string, isUrlSafe: boolean): string {
  const alphabet = isUrlSafe ? URL_SAFE : STANDARD
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const group =
      (bytes.charCodeAt(at) << 16) | ((bytes.charCodeAt(at + 1) || 0) << 8) | (bytes.charCodeAt(at + 2) || 0)
    const chars = Math.min(bytes.length - at, 3) + 1
    for (let char = 0; char < chars; char++) text += alphabet[(group >> (18 - 6 * char)) & 63]
  }
  return text
}

/** The bytes behind base64 of either alphabet; the caller has seen that nothing else is in it. */
export function fromBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let out = 0
  for (let at = 0; at < text.length && out < bytes.length; at += 4) {
    const group =
      (valueAt(text, at) << 18) |
      (valueAt(text, at + 1) << 12) |
      (valueAt(text, at + 2) << 6) |
      valueAt(text, at + 3)
    for (let byte = 0; byte < 3 && out < bytes.length; byte++) bytes[out++] = (group >> (16 - 8 * byte)) & 255
  }
  return bytes
}

function valueAt(text: string, at: number): number {
  return at < text.length ? VALUES[text.charCodeAt(at)]! : 0
}

/** What base64 of a longer text holds if the text holds these bytes: one form for each of the three places a byte can have. */
export function base64Forms(bytes: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = btoa('\0'.repeat(offset) + bytes)
    // The characters at both ends also depend on the neighbours.
    const first = Math.ceil((offset * 8) / 6)
    const sure = whole.slice(first, Math.floor(((offset + bytes.length) * 8) / 6))
    return /[+/]/.test(sure) ? [sure, sure.replaceAll('+', '-').replaceAll('/', '_')] : [sure]
  })
}
