import { isUtf8 } from 'node:buffer'

/** What stands on the tape for bytes that are no message; nothing for a blank line. */
export function rawPayload(bytes: Uint8Array, why?: string): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  if (text.trim() === '') return undefined
  const payload = `"raw":${JSON.stringify(text)},"why":${JSON.stringify(why ?? reasonNotMessage(bytes, text))}`
  return isUtf8(bytes) ? payload : `${payload},"base64":"${Buffer.from(bytes).toString('base64')}"`
}

function reasonNotMessage(bytes: Uint8Array, text: string): string {
  if (!isUtf8(bytes)) return 'not UTF-8'
  try {
    JSON.parse(text)
    return 'JSON, but no object or array'
  } catch {
    return 'not JSON'
  }
}
