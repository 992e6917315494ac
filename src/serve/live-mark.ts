import { rangeAt } from '../wire/members.ts'

/** A client can see that an answer did not come from the tape: `_meta` of a result says so, and every other byte is as it came. */
export function markedLive(text: string): string {
  const meta = rangeAt(text, ['result', '_meta'])
  if (meta !== undefined) return text[meta.start] === '{' ? withFirst(text, meta.start, MARK) : text
  const result = rangeAt(text, ['result'])
  return result !== undefined && text[result.start] === '{'
    ? withFirst(text, result.start, `"_meta":{${MARK}}`)
    : text
}

const MARK = '"reelay/live":true'

/** The text with one more member in the object that begins there. */
function withFirst(text: string, start: number, given: string): string {
  const rest = text.slice(start + 1)
  const isEmpty = rest.trimStart().startsWith('}')
  return `${text.slice(0, start + 1)}${given}${isEmpty ? '' : ','}${rest}`
}
