import { StringDecoder } from 'node:string_decoder'
import { classifyMessage, type Message } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/**
 * What stands on the tape for a message that is longer than the user wants to keep: its beginning, how long it was, and
 * what its id and method were, so that readers know whose answer is missing. Undefined for what is no message.
 */
export function truncatedPayload(bytes: Uint8Array, keep: number): string | undefined {
  const text = new StringDecoder('utf8').write(Buffer.from(bytes))
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const cut = JSON.stringify({ bytes: bytes.length, ...messageIdentity(classifyMessage(value)) })
  // The decoder leaves out half a character at the end.
  const head = new StringDecoder('utf8').write(Buffer.from(bytes.subarray(0, keep)))
  const why = `cut: ${keep} of ${bytes.length} bytes are kept`
  return `"cut":${cut},"raw":${JSON.stringify(head)},"why":${JSON.stringify(why)}`
}

function messageIdentity(message: Message): object {
  switch (message.kind) {
    case 'request':
      return { id: message.id, method: message.method }
    case 'notification':
      return { method: message.method }
    case 'response':
      return message.id === null ? {} : { id: message.id }
    case 'batch':
    case 'invalid':
      return {}
  }
}
