import { parseJson } from '../wire/parse-json.ts'
import { applyEdits, type Edit } from './edits.ts'
import { eachToken } from './json-values.ts'
import { isOAuthField, isSecretParameter } from './secret-names.ts'

/** What the parts of a URL, a form or a head are redacted with. */
export interface Marker {
  readonly text: (text: string) => string
  readonly secret: (value: string) => string
  readonly named: (name: string, value: string) => string
}

/** A URL, or a path with its query; every character that is no secret stays. */
export function redactedUrl(marker: Marker, url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return marker.text(url)
  const [query = '', ...fragment] = url.slice(mark + 1).split('#')
  const rest = fragment.length === 0 ? '' : `#${marker.text(fragment.join('#'))}`
  return `${marker.text(url.slice(0, mark))}?${pairs(marker, query, isSecretParameter)}${rest}`
}

/** The values in the query of a URL that are secrets by their names. */
export function secretParameters(url: string): readonly string[] {
  const query = url.slice(url.indexOf('?') + 1)
  const found = query.split('&').map((pair) => /^([^=]+)=([^#]*)/.exec(pair))
  return found.flatMap((pair) => (pair && isSecretParameter(pair[1]!) ? [decoded(pair[2]!)] : []))
}

/** A form, or JSON that is no message, as authorization servers take and give them. */
export function redactedForm(marker: Marker, text: string): string {
  if (parseJson(text) === undefined) return pairs(marker, text, isOAuthField)
  const edits: Edit[] = []
  eachToken(text, ({ kind, start, end, path }) => {
    if (kind !== 'string') return
    const value = String(JSON.parse(text.slice(start, end)))
    const redacted = redactedValue(marker, String(path.at(-1) ?? ''), value, isOAuthField)
    if (redacted !== value) edits.push({ start, end, text: JSON.stringify(redacted) })
  })
  return applyEdits(text, edits)
}

function pairs(marker: Marker, text: string, isSecret: (name: string) => boolean): string {
  return text
    .split('&')
    .map((pair) => redactedPair(marker, pair, isSecret))
    .join('&')
}

function redactedPair(marker: Marker, pair: string, isSecret: (name: string) => boolean): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return marker.text(pair)
  const [name, value] = [pair.slice(0, equals), decoded(pair.slice(equals + 1))]
  const redacted = redactedValue(marker, name, value, isSecret)
  return redacted === value ? pair : `${name}=${encodeURIComponent(redacted)}`
}

function redactedValue(
  marker: Marker,
  name: string,
  value: string,
  isSecret: (name: string) => boolean,
): string {
  return isSecret(name) ? marker.secret(value) : marker.named(name, value)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return value
  }
}
