/** Whether a byte may stand in a number, `true`, `false` or `null`. */
export function isScalarByte(byte: number | undefined): byte is number {
  if (byte === undefined || byte < 0x2b || byte > 0x7a) return false
  return byte >= 0x61 || (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e || byte === 0x2b
}

const [ZERO, NINE, MINUS] = [0x30, 0x39, 0x2d]
const SAFE_DIGITS = 15

/** Whether a number or a literal is spelled as canonical JSON spells it. */
export function isCanonicalScalar(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (isPlainNumber(bytes, first, end)) return true
  if (LITERALS.some((text) => text.length === end - start && hasBytesAt(bytes, start, text))) return true
  const text = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + MAX_SCALAR_LENGTH)))
  return Number.isFinite(Number(text)) && String(Number(text)) === text
}

const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text))
// No number is spelled longer.
const MAX_SCALAR_LENGTH = 32

function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] === ZERO || end === start || end - start > SAFE_DIGITS) return false
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > NINE || (bytes[at] ?? 0) < ZERO) return false
  return true
}

/** Whether these bytes stand there. */
export function hasBytesAt(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false
  return true
}
