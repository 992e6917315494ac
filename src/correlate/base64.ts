/** The text that a base64 string encodes; undefined when it is no base64, or encodes no readable text. */
export function decodeBase64Text(text: string): string | undefined {
  if (text.length < 8 || text.length > LONGEST_BASE64 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
    return undefined
  try {
    const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
    const binary = atob(plain)
    if (NOT_TEXT.test(binary)) return undefined
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0))
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return isReadable(decoded) && encodeBase64Like(text, decoded) === text ? decoded : undefined
  } catch {
    return undefined // most strings of these letters are no base64
  }
}

// Control characters, and bytes that no UTF-8 has: a uuid has the letters of base64, and to catch an error takes longer than to look.
const NOT_TEXT = /[^\t\n\r\x20-\x7e\x80-\xbf\xc2-\xf4]|^[\x80-\xbf]/

const LONGEST_BASE64 = 8192 // cursors and states are short; a picture is no handle

/** Encodes a text in the alphabet and with the padding of another one. */
export function encodeBase64Like(model: string, text: string): string {
  const plain = btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  const padded = model.endsWith('=') || model.length % 4 === 0 ? plain : plain.replace(/=+$/, '')
  return /[-_]/.test(model) ? padded.replaceAll('+', '-').replaceAll('/', '_') : padded
}

// Text that was encoded on purpose holds no control characters; random letters that happen to decode do.
function isReadable(text: string): boolean {
  return !/[^\P{C}\t\n\r]/u.test(text)
}
