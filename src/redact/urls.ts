import { parseJson } from '../json/parse.ts'
import { applyReplacements, type TextReplacement } from './text-edits.ts'
import { forEachToken } from './json-values.ts'
import { isOAuthField, isSecretParameter } from './secret-names.ts'

/** What the parts of a URL, a form or a head are redacted with. */
export interface ValueRedactor {
  readonly text: (text: string) => string
  readonly secret: (value: string) => string
  readonly named: (name: string, value: string) => string
}

/** A URL, or a path with its query; every character that is no secret stays. */
export function redactUrl(marker: ValueRedactor, url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return marker.text(url)
  const [query = '', ...fragment] = url.slice(mark + 1).split('#')
  const rest = fragment.length === 0 ? '' : `#${marker.text(fragment.join('#'))}`
  return `${marker.text(url.slice(0, mark))}?${redactPairs(marker, query, isSecretParameter)}${rest}`
}

/** The values in the query of a URL that are secrets by their names. */
export function secretUrlParameters(url: string): readonly string[] {
  const query = url.slice(url.indexOf('?') + 1)
  const found = query.split('&').map((pair) => /^([^=]+)=([^#]*)/.exec(pair))
  return found.flatMap((pair) => (pair && isSecretParameter(pair[1]!) ? [decodeParameter(pair[2]!)] : []))
}

/** A form, or JSON that is no message, as authorization servers take and give them. */
export function redactForm(marker: ValueRedactor, text: string): string {
  if (parseJson(text) === undefined) return redactPairs(marker, text, isOAuthField)
  const edits: TextReplacement[] = []
  forEachToken(text, ({ kind, start, end, path }) => {
    if (kind !== 'string') return
    const value = String(JSON.parse(text.slice(start, end)))
    const redacted = redactPairValue(marker, String(path.at(-1) ?? ''), value, isOAuthField)
    if (redacted !== value) edits.push({ start, end, text: JSON.stringify(redacted) })
  })
  return applyReplacements(text, edits)
}

function redactPairs(marker: ValueRedactor, text: string, isSecret: (name: string) => boolean): string {
  return text
    .split('&')
    .map((pair) => redactPair(marker, pair, isSecret))
    .join('&')
}

function redactPair(marker: ValueRedactor, pair: string, isSecret: (name: string) => boolean): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return marker.text(pair)
  const [name, value] = [pair.slice(0, equals), decodeParameter(pair.slice(equals + 1))]
  const redacted = redactPairValue(marker, name, value, isSecret)
  return redacted === value ? pair : `${name}=${encodeURIComponent(redacted)}`
}

function redactPairValue(
  marker: ValueRedactor,
  name: string,
  value: string,
  isSecret: (name: string) => boolean,
): string {
  return isSecret(name) ? marker.secret(value) : marker.named(name, value)
}

function decodeParameter(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return value
  }
}
