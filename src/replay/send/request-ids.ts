import { findRange, replaceValue } from '../../json/find-replace.ts'
import { replaceId } from '../../protocol/find-id.ts'
import { type Id, idToJson, META_KEYS } from '../../protocol/message.ts'
import type { LiveSession } from '../session/live-session.ts'

/** Replaces the id of a request, and its progress token, because the recorded ones may be in use. */
export function withFreshIds(
  text: string,
  id: Id,
): { readonly text: string; readonly token: Id | undefined } {
  const named = replaceId(text, idToJson(id))
  if (!text.includes(META_KEYS.progressToken) || findRange(named, PROGRESS_TOKEN_PATH) === undefined)
    return { text: named, token: undefined }
  return { text: replaceValue(named, PROGRESS_TOKEN_PATH, idToJson(id)), token: id }
}

const PROGRESS_TOKEN_PATH = ['params', '_meta', META_KEYS.progressToken]

/** Returns the recorded id, unless it is in use: connections of a tape may share a session. */
export function keptId(recorded: Id, session: LiveSession, isAnother: boolean): Id {
  if (!isAnother && !session.hasOpen(recorded)) return recorded
  return `__again_${session.nextId()}__` // a number might be the recorded id of another request
}
