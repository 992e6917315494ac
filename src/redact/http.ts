import { fromBase64, toBase64 } from './base64.ts'
import { isSecretHeader } from './secret-names.ts'
import { redactUrl, type ValueRedactor } from './urls.ts'

/** The value of an HTTP header, as it goes on a tape. */
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

/** What is secret in the value of such a header: all of it but a scheme, and the password that Basic holds. */
export function secretsInHeader(value: string): readonly string[] {
  const [, scheme = '', secret = ''] = /^(\S+ +)?([\s\S]*)$/.exec(value) ?? []
  if (!/^basic /i.test(scheme)) return [secret]
  const plain = new TextDecoder().decode(fromBase64(secret.replace(/=+$/, '')))
  return [secret, plain.slice(plain.indexOf(':') + 1)]
}

const PARAM_HEADER_PREFIX = 'mcp-param-'
const BASE64_PARAM = /^=\?base64\?([A-Za-z0-9+/_-]*={0,2})\?=$/

/** An argument of a tool that its client repeats in a header: it gets the stand-in that it has in the body. */
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

/** The scheme stays. */
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

/** Where it is valid and for how long is no secret. */
function redactSetCookie(marker: ValueRedactor, value: string): string {
  const end = value.indexOf(';')
  if (end < 0) return redactCookie(marker, value)
  return redactCookie(marker, value.slice(0, end)) + marker.text(value.slice(end))
}
