// Control and format characters (bidi, zero-width, tags), half surrogates, line and paragraph separators.
// Made on first use, because it takes longer to make than the rest of the recorder takes to load.
const controlChars = () => /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Escapes characters that would move the cursor, change colours or reorder text on a terminal. Tapes are untrusted data. */
export function escapeControlChars(text: string): string {
  return text.replace(
    controlChars(),
    (char) => SHORT_ESCAPES[char] ?? `\\u{${char.codePointAt(0)?.toString(16)}}`,
  )
}

/** Like `escapeControlChars`, for JSON: uses JSON escapes in strings, and spaces between tokens. */
export function escapeControlCharsInJson(json: string): string {
  return json.replace(controlChars(), (char) =>
    char in SHORT_ESCAPES ? ' ' : char.split('').map(unicodeEscape).join(''),
  )
}

/** Escapes control characters and truncates the text to `width` characters. */
export function truncateText(text: string, width: number): string {
  const shown = escapeControlChars(text)
  return shown.length <= width ? shown : `${shown.slice(0, width - 1)}…`
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Truncates a text after a whole word, because half of a secret would not be recognized as one. */
export function truncateAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.slice(0, most + 1).search(/\s\S*$/)
  return `${text.slice(0, Math.max(end, 0))}…`
}

/** Quotes a word, if necessary, so that it can be pasted into a shell. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Quotes the path of a tape. A path that begins with a dash gets `./` before it, because it would be read as an option. */
export function quoteTapeArgument(tape: string): string {
  return quoteShellWord(tape.startsWith('-') ? `./${tape}` : tape)
}

/** The number of characters that two texts share at their beginnings plus, beyond these, at their ends. */
export function commonAffixLength(a: string, b: string): number {
  const shortest = Math.min(a.length, b.length)
  const head = commonPrefixLength(a, b)
  let tail = 0
  while (tail < shortest - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return head + tail
}

export function commonPrefixLength(a: string, b: string): number {
  const shortest = Math.min(a.length, b.length)
  let length = 0
  while (length < shortest && a[length] === b[length]) length++
  return length
}

/** `; did you mean search?` if a known name is similar, otherwise an empty text. */
export function suggestName(name: string, known: readonly string[]): string {
  const similar = similarName(name, known)
  return similar === undefined ? '' : `; did you mean ${similar}?`
}

/** Like `suggestName`, for a path. The known paths are those of leaves. If none is similar, some of them are listed. */
export function suggestPath(path: string, leaves: readonly string[]): string {
  const inner = leaves.flatMap((leaf) => [...leaf.matchAll(/[.[]/g)].map(({ index }) => leaf.slice(0, index)))
  const similar = similarName(path, [...new Set([...leaves, ...inner])])
  if (similar !== undefined) return `; did you mean ${similar}?`
  const listed = leaves.filter((leaf) => leaf !== 'params.name').slice(0, MOST_LISTED)
  const more = leaves.length > MOST_LISTED ? ', …' : ''
  return listed.length === 0 ? '' : `; there are ${listed.join(', ')}${more}`
}

const MOST_LISTED = 5

/** Returns the known name that differs least, in at most three characters and at most half of the name. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const best = known
    .map((each) => ({ each, rest: Math.max(each.length, name.length) - commonAffixLength(each, name) }))
    .toSorted((a, b) => a.rest - b.rest)[0]
  return best !== undefined && best.rest <= Math.min(3, name.length / 2) ? best.each : undefined
}

/** Like `similarName` for options: the dashes, which all of them have, make none similar. */
export function similarOption(flag: string, known: readonly string[]): string | undefined {
  const similar = similarName(
    flag.replace(/^-+/, ''),
    known.map((each) => each.replace(/^-+/, '')),
  )
  return similar === undefined ? undefined : `--${similar}`
}

/** Parses `250`, `250ms`, `2s` or `1.5m` into milliseconds. Returns `undefined` for anything else. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 && value <= MAX_DURATION_MS ? value : undefined
  const [, count, unit = 'ms'] = /^(\d+(?:\.\d+)?) ?(ms|s|m)?$/.exec(String(value)) ?? []
  const ms = Number(count) * (DURATION_UNITS.get(unit) ?? Number.NaN)
  return ms <= MAX_DURATION_MS ? ms : undefined
}

const DURATION_UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
])

// The longest delay that setTimeout accepts.
const MAX_DURATION_MS = 2 ** 31 - 1
