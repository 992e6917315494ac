import type { HeaderPairs } from '../transport/http-heads.ts'

/** What stands on a tape in place of a secret. */
const MARK = '<secret>'

const SECRET_HEADER =
  /^(proxy-)?authorization$|^(set-)?cookie$|^dpop$|session-id$|api-?key|token|secret|passw|credential/i
const SECRET_QUERY = /session|token|secret|passw|credential|api_?key|auth|^(key|code|state|sig|signature)$/i

/** The headers as they go on the tape: all names, and the values that are no secrets. */
export function maskHeaders(pairs: HeaderPairs): HeaderPairs {
  return pairs.map(([name, value]) => [name, maskedValue(name, value)] as const)
}

/** A path or URL with the secret values of its query masked, every other character as it was. */
export function maskQuery(path: string): string {
  const mark = path.indexOf('?')
  if (mark < 0) return path
  const pieces = path.slice(mark + 1).split('&')
  return `${path.slice(0, mark)}?${pieces.map(maskPiece).join('&')}`
}

function maskedValue(name: string, value: string): string {
  if (SECRET_HEADER.test(name)) return MARK
  return value.includes('?') && /^(location|referer)$/i.test(name) ? maskQuery(value) : value
}

function maskPiece(piece: string): string {
  const equals = piece.indexOf('=')
  return equals > 0 && SECRET_QUERY.test(piece.slice(0, equals)) ? `${piece.slice(0, equals)}=${MARK}` : piece
}
