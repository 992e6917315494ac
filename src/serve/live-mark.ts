import { findRange } from '../json/find.ts'

/** A client can see that an answer did not come from the tape: `_meta` of a result says so, and every other byte is as it came. */
export function markAsLive(text: string): string {
  const meta = findRange(text, ['result', '_meta'])
  if (meta !== undefined)
    return text[meta.start] === '{' ? withFirstMember(text, meta.start, LIVE_MARK) : text
  const result = findRange(text, ['result'])
  return result !== undefined && text[result.start] === '{'
    ? withFirstMember(text, result.start, `"_meta":{${LIVE_MARK}}`)
    : text
}

const LIVE_MARK = '"reelay/live":true'

/** The text with one more member in the object that begins there. */
function withFirstMember(text: string, start: number, given: string): string {
  const rest = text.slice(start + 1)
  const isEmpty = rest.trimStart().startsWith('}')
  return `${text.slice(0, start + 1)}${given}${isEmpty ? '' : ','}${rest}`
}
