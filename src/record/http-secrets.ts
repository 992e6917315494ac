import type { HeaderList } from '../tape/frame.ts'
import type { RawHeaders } from '../transport/http-heads.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What stands on a tape in place of a secret. */
const MARK = '<secret>'

const SECRET_HEADER =
  /^(proxy-)?authorization$|^(set-)?cookie$|^dpop$|session-id$|api-?key|token|secret|passw|credential/i
const SECRET_QUERY = /session|token|secret|passw|credential|api_?key|auth|^(key|code|state|sig|signature)$/i

const SECRET_FIELD = /^(code_verifier|(client_)?assertion|.*_code)$/i
const SECRET_MEMBER =
  /token$|secret$|passw|api_?key|^(code|code_verifier|device_code|user_code|(client_)?assertion|private_key)$/i

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

/** A form with the values of its secret fields masked. */
export function maskForm(text: string): string {
  const pieces = maskQuery(`?${text}`).slice(1).split('&')
  return pieces.map((piece) => maskNamed(piece, SECRET_FIELD)).join('&')
}

/** JSON that is no message with the values of its secret members masked; undefined when the text is no JSON. */
export function maskJson(text: string): string | undefined {
  const value = parseJson(text)
  if (value === undefined) return undefined
  return JSON.stringify(value, (name, member: unknown) =>
    SECRET_MEMBER.test(name) && member !== null ? MARK : member,
  )
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
  return maskNamed(piece, SECRET_QUERY)
}

function maskNamed(piece: string, names: RegExp): string {
  const equals = piece.indexOf('=')
  return equals > 0 && names.test(piece.slice(0, equals)) ? `${piece.slice(0, equals)}=${MARK}` : piece
}
