import type { Id } from '../wire/id.ts'
import { rangeAt, replaceAt } from '../wire/members.ts'
import { META } from '../wire/methods.ts'

/** The text with a fresh id, and a fresh progress token where it had one: recorded ones may be in use by others. */
export function withFreshNames(
  text: string,
  id: Id,
): { readonly text: string; readonly token: Id | undefined } {
  const named = replaceAt(text, ['id'], JSON.stringify(id))
  if (!named.includes(META.progressToken) || rangeAt(named, TOKEN) === undefined)
    return { text: named, token: undefined }
  return { text: replaceAt(named, TOKEN, JSON.stringify(id)), token: id }
}

const TOKEN = ['params', '_meta', META.progressToken]
