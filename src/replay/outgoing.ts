import { edgeOf } from '../wire/edge-id.ts'
import { idText, type Id } from '../wire/id.ts'
import { rangeAt, replaceAt } from '../wire/members.ts'
import { META } from '../wire/methods.ts'

/** The text with a fresh id, and a fresh progress token where it had one: recorded ones may be in use by others. */
export function withFreshNames(
  text: string,
  recorded: Id,
  id: Id,
): { readonly text: string; readonly token: Id | undefined } {
  const named = withId(text, recorded, idText(id))
  if (!text.includes(META.progressToken) || rangeAt(named, TOKEN) === undefined)
    return { text: named, token: undefined }
  return { text: replaceAt(named, TOKEN, idText(id)), token: id }
}

const TOKEN = ['params', '_meta', META.progressToken]

function withId(text: string, recorded: Id, id: string): string {
  const range = edgeOf(text, recorded)
  if (range === undefined) return replaceAt(text, ['id'], id)
  return text.slice(0, range.start) + id + text.slice(range.end)
}
