import type { Id } from '../protocol/id.ts'
import { findRange } from '../json/find.ts'
import type { Notification, Request } from '../protocol/message.ts'
import { META_KEYS, metaValue } from '../protocol/methods.ts'
import { findIdAtEdge } from '../protocol/find-id-in-text.ts'

/** What the live client chose itself and must get back: ids and tokens as the bytes that it sent. */
export interface LiveMessage {
  /** `null` stands in for a notification's id: nothing that needs one is sent for it. */
  readonly id: string
  readonly progressToken: string | undefined
  readonly message: Request | Notification
}

export function toLiveMessage(text: string, message: Request | Notification): LiveMessage {
  const hasToken = metaValue(message.params, META_KEYS.progressToken) !== undefined
  return {
    id: message.kind === 'request' ? idBytes(text, message.id) : 'null',
    progressToken: hasToken ? bytesAt(text, ['params', '_meta', META_KEYS.progressToken]) : undefined,
    message,
  }
}

function idBytes(text: string, id: Id): string {
  const range = findIdAtEdge(text)
  const bytes = range === undefined ? undefined : text.slice(range.start, range.end)
  // What stands at an edge may belong to something inside: only the same id is the same bytes.
  const isSame = bytes === String(id) || bytes === `"${id}"`
  return isSame && bytes.startsWith('"') === (typeof id === 'string')
    ? bytes
    : (bytesAt(text, ['id']) ?? 'null')
}

function bytesAt(text: string, path: readonly string[]): string | undefined {
  const range = findRange(text, path)
  return range === undefined ? undefined : text.slice(range.start, range.end)
}
