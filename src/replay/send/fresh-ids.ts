import { idToJson, replaceId, type Id } from '../../protocol/id.ts'
import { findRange } from '../../json/find.ts'
import { replaceValue } from '../../json/splice.ts'
import { META_KEYS } from '../../protocol/methods.ts'

/** The text with a fresh id, and a fresh progress token where it had one: recorded ones may be in use by others. */
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
