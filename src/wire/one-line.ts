/** In valid JSON a line break is white space: a message that was sent over several lines still fits into one. */
export function jsonOnOneLine(json: string): string {
  return LINE_BREAK.test(json) ? json.replaceAll(LINE_BREAKS, ' ') : json
}

const LINE_BREAK = /[\r\n]/
const LINE_BREAKS = /[\r\n]/g
