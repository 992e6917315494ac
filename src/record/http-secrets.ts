import type { HeaderList } from '../tape/frame.ts'
import type { RawHeaders } from '../transport/http-heads.ts'

/** What stands on a tape in place of a secret. */
const MARK = '<secret>'

const SECRET_HEADER =
  /^(proxy-)?authorization$|^(set-)?cookie$|^dpop$|session-id$|api-?key|token|secret|passw|credential/i
const SECRET_QUERY = /session|token|secret|passw|credential|api_?key|auth|^(key|code|state|sig|signature)$/i

/** The headers as they go on the tape: all names, and the values that are no secrets. */
export function maskHeaders(headers: RawHeaders): HeaderList {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < headers.length; at += 2)
    pairs.push([headers[at]!, maskedValue(headers[at]!, headers[at + 1]!)])
  return pairs
}

/** A path or URL with the secret values of its query masked, every other character as it was. */
export function maskQuery(path: string): string {
  const mark = path.indexOf('?')
  if (mark < 0) return path
  const pieces = path.slice(mark + 1).split('&')
  return `${path.slice(0, mark)}?${pieces.map(maskPiece).join('&')}`
}

function maskedValue(name: string, value: string): string {
  if (isSecret(name)) return MARK
  return value.includes('?') && /^(location|referer)$/i.test(name) ? maskQuery(value) : value
}

const known = new Map<string, boolean>()
const MOST_NAMES = 1000

/** Asked for every header of every exchange, and mostly about the same few names. */
function isSecret(name: string): boolean {
  const answer = known.get(name) ?? SECRET_HEADER.test(name)
  if (known.size < MOST_NAMES) known.set(name, answer)
  return answer
}

function maskPiece(piece: string): string {
  const equals = piece.indexOf('=')
  return equals > 0 && SECRET_QUERY.test(piece.slice(0, equals)) ? `${piece.slice(0, equals)}=${MARK}` : piece
}
