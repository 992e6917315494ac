import { forEachToken, applyReplacements, type TextReplacement } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import { isSecretHeader, isOAuthField, isSecretParameter } from './secret-names.ts'
import { fromBase64, toBase64 } from './views.ts'

export function redactHttpHeader(marker: ValueRedactor, name: string, value: string): string {
  const lower = name.toLowerCase()
  if (lower.startsWith(PARAM_HEADER_PREFIX))
    return redactParamHeader(marker, name.slice(PARAM_HEADER_PREFIX.length), value)
  if (lower === 'authorization' || lower === 'proxy-authorization') return redactCredentials(marker, value)
  if (lower === 'cookie')
    return value
      .split(';')
      .map((pair) => redactCookie(marker, pair))
      .join(';')
  if (lower === 'set-cookie') return redactSetCookie(marker, value)
  if (isSecretHeader(lower)) return marker.secret(value)
  return lower === 'location' || lower === 'referer' ? redactUrl(marker, value) : marker.text(value)
}

/** The secrets in the value of a secret header: everything after the scheme, and for Basic also the password alone. */
export function secretsInHeader(value: string): readonly string[] {
  const [, scheme = '', secret = ''] = /^(\S+ +)?([\s\S]*)$/.exec(value) ?? []
  if (!/^basic /i.test(scheme)) return [secret]
  const plain = new TextDecoder().decode(fromBase64(secret.replace(/=+$/, '')))
  return [secret, plain.slice(plain.indexOf(':') + 1)]
}

const PARAM_HEADER_PREFIX = 'mcp-param-'
const BASE64_PARAM = /^=\?base64\?([A-Za-z0-9+/_-]*={0,2})\?=$/

/** A tool argument that the client repeats in a header. It gets the same placeholder as in the body. */
function redactParamHeader(marker: ValueRedactor, name: string, value: string): string {
  const encoded = BASE64_PARAM.exec(value)?.[1]
  if (encoded === undefined) return marker.named(name, value)
  const plain = new TextDecoder().decode(fromBase64(encoded.replace(/=+$/, '')))
  const redacted = marker.named(name, plain)
  return redacted === plain ? value : `=?base64?${utf8ToBase64(redacted)}?=`
}

function utf8ToBase64(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text))
  const base64 = toBase64(bytes, false)
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=')
}

/** Keeps the scheme, and for Basic also the user name. */
function redactCredentials(marker: ValueRedactor, value: string): string {
  const [, scheme = '', secret = ''] = /^(\S+ +)?([\s\S]*)$/.exec(value) ?? []
  if (!/^basic /i.test(scheme)) return scheme + marker.secret(secret)
  const plain = new TextDecoder().decode(fromBase64(secret.replace(/=+$/, '')))
  const colon = plain.indexOf(':')
  if (colon < 0) return scheme + marker.secret(secret)
  return `${scheme}${utf8ToBase64(`${marker.text(plain.slice(0, colon))}:${marker.secret(plain.slice(colon + 1))}`)}`
}

function redactCookie(marker: ValueRedactor, pair: string): string {
  const equals = pair.indexOf('=')
  return equals < 0 ? marker.secret(pair) : pair.slice(0, equals + 1) + marker.secret(pair.slice(equals + 1))
}

/** Keeps the attributes of the cookie. */
function redactSetCookie(marker: ValueRedactor, value: string): string {
  const end = value.indexOf(';')
  if (end < 0) return redactCookie(marker, value)
  return redactCookie(marker, value.slice(0, end)) + marker.text(value.slice(end))
}

/** The methods of `Redactor` that are used here. */
interface ValueRedactor {
  readonly text: (text: string) => string
  readonly secret: (value: string) => string
  readonly named: (name: string, value: string) => string
}

/** Redacts a URL, or a path with its query. All other characters stay as they are. */
export function redactUrl(marker: ValueRedactor, url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return marker.text(url)
  const [query = '', ...fragment] = url.slice(mark + 1).split('#')
  const rest = fragment.length === 0 ? '' : `#${marker.text(fragment.join('#'))}`
  return `${marker.text(url.slice(0, mark))}?${redactPairs(marker, query, isSecretParameter)}${rest}`
}

/** The values of query parameters whose names suggest a secret. */
export function secretUrlParameters(url: string): readonly string[] {
  const query = url.slice(url.indexOf('?') + 1)
  const found = query.split('&').map((pair) => /^([^=]+)=([^#]*)/.exec(pair))
  return found.flatMap((pair) => (pair && isSecretParameter(pair[1]!) ? [decodeParameter(pair[2]!)] : []))
}

/** Redacts a form, or JSON that is not a message, as exchanged with authorization servers. */
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
