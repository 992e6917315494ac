/** In valid JSON a line break is white space: a message that was sent over several lines still fits into one. */
export function onOneLine(json: string): string {
  return BREAK.test(json) ? json.replaceAll(BREAKS, ' ') : json
}

const BREAK = /[\r\n]/
const BREAKS = /[\r\n]/g
