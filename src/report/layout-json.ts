const [QUOTE, BACKSLASH, COLON, COMMA] = codesOf('"\\:,')
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = codesOf('{}[]')
const SINGLE_TOKENS = new Set(codesOf('{}[],: \t\r\n"'))
const SPACE = new Set(codesOf(' \t\r\n'))

// Beyond this depth nothing is indented any more: a hostile nesting would cost the square of its depth.
const MAX_INDENT_DEPTH = 64
const LINE_BREAKS = Array.from({ length: MAX_INDENT_DEPTH + 1 }, (_, depth) => `\n${'  '.repeat(depth)}`)

/** Lays valid JSON out for reading without parsing it: numbers, escapes and the order of keys stay as they were spelled. */
export function indentJson(text: string, startDepth = 0): string {
  const parts: string[] = []
  let depth = startDepth
  let previous: number | undefined
  for (let at = 0, end = 0; at < text.length; at = end) {
    const first = text.charCodeAt(at)
    end = tokenEnd(text, at, first)
    if (SPACE.has(first)) continue
    if (isClosing(first)) depth--
    parts.push(gapBetween(previous, first, depth), text.slice(at, end))
    if (isOpening(first)) depth++
    previous = first
  }
  return parts.join('')
}

function tokenEnd(text: string, start: number, first: number): number {
  if (first === QUOTE) return stringEnd(text, start)
  let end = start + 1
  if (SINGLE_TOKENS.has(first)) return end
  while (end < text.length && !SINGLE_TOKENS.has(text.charCodeAt(end))) end++
  return end
}

function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote < 0 ? text.length : quote + 1
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

/** What stands between two tokens, each known by its first character. */
function gapBetween(previous: number | undefined, next: number, depth: number): string {
  if (previous === COLON) return ' '
  const isEmpty = isOpening(previous) && isClosing(next)
  const breaks = !isEmpty && (previous === COMMA || isOpening(previous) || isClosing(next))
  return breaks ? (LINE_BREAKS[depth] ?? '') : ''
}

function isOpening(code: number | undefined): boolean {
  return code === OPEN_OBJECT || code === OPEN_LIST
}

function isClosing(code: number | undefined): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_LIST
}

function codesOf(chars: string): readonly number[] {
  return Array.from(chars, (char) => char.charCodeAt(0))
}
