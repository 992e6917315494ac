import { isUtf8 } from 'node:buffer'
import type { Redactor } from '../redact/redactor.ts'

/** Bytes of any kind without their secrets. */
export function redactBytes(bytes: Buffer, redactor: Pick<Redactor, 'text'> | undefined): Buffer {
  if (redactor === undefined) return bytes
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  const text = bytes.toString(encoding)
  const redacted = redactor.text(text)
  return redacted === text ? bytes : Buffer.from(redacted, encoding)
}

/** The beginning of bytes that are too many. Their secrets go first: a cut would leave half of one, which nobody can tell. */
export function redactPrefix(bytes: Buffer, length: number, redactor: Redactor | undefined): Buffer {
  if (redactor === undefined) return bytes.subarray(0, length)
  const known = redactBytes(bytes.subarray(0, length + MARGIN_BYTES), redactor)
  return known.subarray(0, Math.min(length, Math.max(known.length - MARGIN_BYTES, 0)))
}

/** Longer than a token. */
const MARGIN_BYTES = 2048
