import { LONGEST_PARSED, type TextFormat } from './format.ts'

/** A text that was encoded as base64 or base64url, such as a cursor. What it encodes may have a format of its own. */
export const base64: TextFormat = { name: 'base64 of a text', parse: parseEncoded }

function parseEncoded(text: string): unknown {
  if (text.length > LONGEST_PARSED || !ENCODED.test(text)) return undefined
  // Other data, such as an image, is rarely readable from its beginning.
  if (decodedText(text.slice(0, SHORTEST)) === undefined) return undefined
  const decoded = decodedText(text)
  return decoded === undefined ? undefined : { decoded }
}

const SHORTEST = 16
const ENCODED = /^(?:[A-Za-z0-9+/]{16,}|[A-Za-z0-9_-]{16,})={0,2}$/

/** Returns `undefined` if the data is not a readable text. A character may be cut off at the end of a part. */
function decodedText(encoded: string): string | undefined {
  try {
    const binary = atob(encoded.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, {
      stream: encoded.length === SHORTEST,
    })
    return UNREADABLE.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

const UNREADABLE = /[^\P{C}\t\r\n]/u
