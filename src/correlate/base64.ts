/** The text that a base64 string encodes; undefined when it is no base64, or encodes no readable text. */
export function decodeBase64(text: string): string | undefined {
  if (text.length < 8 || text.length > LONGEST || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined
  try {
    const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
    const bytes = Uint8Array.from(atob(plain), (char) => char.charCodeAt(0))
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return isReadable(decoded) && encodeLike(text, decoded) === text ? decoded : undefined
  } catch {
    return undefined // most strings of these letters are no base64
  }
}

const LONGEST = 8192 // cursors and states are short; a picture is no handle

/** Encodes a text in the alphabet and with the padding of another one. */
export function encodeLike(model: string, text: string): string {
  const plain = btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  const padded = model.endsWith('=') || model.length % 4 === 0 ? plain : plain.replace(/=+$/, '')
  return /[-_]/.test(model) ? padded.replaceAll('+', '-').replaceAll('/', '_') : padded
}

// Text that was encoded on purpose holds no control characters; random letters that happen to decode do.
function isReadable(text: string): boolean {
  return !/[^\P{C}\t\n\r]/u.test(text)
}
