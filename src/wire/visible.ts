// Control and format characters (bidi, zero-width, tags), half surrogates, line and paragraph separators.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A tape is data from strangers: what would move the cursor, recolour or reorder a terminal is spelled out instead. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => SHORT[char] ?? `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/** The same for JSON text: inside strings such characters have an escape of the same meaning; outside they are spaces. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, (char) => (char in SHORT ? ' ' : char.split('').map(escapeUnit).join('')))
}

/** At most `width` characters, made visible. */
export function shortened(text: string, width: number): string {
  const shown = visible(text)
  return shown.length <= width ? shown : `${shown.slice(0, width - 1)}…`
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
