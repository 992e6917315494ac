import type { HeaderRecord } from '../../http/server/served-exchange.ts'
import { isObject, member, type Message, type Notification, type Request } from '../../protocol/message.ts'
import { hasModernEnvelope, META_KEYS, metaValue, MODERN_VERSION } from '../../protocol/methods.ts'
import { decodeHeaderValue, requestHeader, headerMismatch } from './mirrored-header.ts'
import type { MirroredParams } from './mirrored-params.ts'
import type { HttpErrorResponse } from './refusal.ts'

/** Whether a message is of the modern era: it carries the envelope, or its header says so. */
export function isModernMessage(message: Message, headers: HeaderRecord): boolean {
  const isCall = message.kind === 'request' || message.kind === 'notification'
  return (
    (isCall && hasModernEnvelope(message.params)) ||
    requestHeader(headers, 'mcp-protocol-version') === MODERN_VERSION
  )
}

/** What 2026-07-28 asks of a message and of the headers that repeat parts of it; nothing when all is well. */
export function checkModernMessage(
  message: Message,
  headers: HeaderRecord,
  mirrored: MirroredParams,
): HttpErrorResponse | undefined {
  if (message.kind === 'response' || message.kind === 'batch') return invalid(`a ${message.kind}`)
  if (message.kind === 'invalid') return invalid(message.why)
  const version = requestHeader(headers, 'mcp-protocol-version')
  if (message.kind === 'notification') return methodMismatch(message, headers)
  return (
    envelopeRefusal(message) ??
    versionRefusal(message, version) ??
    methodMismatch(message, headers) ??
    nameMismatch(message, headers) ??
    mirrored.findMismatch(message, headers)
  )
}

function invalid(what: string): HttpErrorResponse {
  return { status: 400, code: -32600, message: `Bad Request: ${what} cannot be posted here` }
}

const REQUIRED = [META_KEYS.protocolVersion, META_KEYS.clientCapabilities] as const

function envelopeRefusal({ params }: Request): HttpErrorResponse | undefined {
  const missing = REQUIRED.filter((key) => metaValue(params, key) === undefined)
  const wrong = REQUIRED.find((key) => !isWellFormed(key, metaValue(params, key)))
  if (missing.length > 0)
    return badEnvelope(`the request lacks ${missing.join(', ')} in params._meta`, { missing })
  return wrong === undefined
    ? undefined
    : badEnvelope(`${wrong} in params._meta is not well-formed`, { key: wrong })
}

function isWellFormed(key: (typeof REQUIRED)[number], value: unknown): boolean {
  return key === META_KEYS.protocolVersion ? typeof value === 'string' : isObject(value)
}

function badEnvelope(why: string, envelope: object): HttpErrorResponse {
  return { status: 400, code: -32602, message: `Invalid params: ${why}`, data: { envelope } }
}

function versionRefusal({ params }: Request, header: string | undefined): HttpErrorResponse | undefined {
  const named = String(metaValue(params, META_KEYS.protocolVersion))
  if (header !== undefined && header !== named)
    return headerMismatch('MCP-Protocol-Version', `it names ${header}, the body ${named}`)
  if (named !== MODERN_VERSION) return unsupported(named)
  return header === undefined
    ? headerMismatch('MCP-Protocol-Version', `it is missing, the body names ${named}`)
    : undefined
}

function unsupported(requested: string): HttpErrorResponse {
  const data = { supported: [MODERN_VERSION], requested }
  return { status: 400, code: -32022, message: 'Unsupported protocol version', data }
}

function methodMismatch(
  { method, kind }: Request | Notification,
  headers: HeaderRecord,
): HttpErrorResponse | undefined {
  const header = requestHeader(headers, 'mcp-method')
  if (header === undefined && kind === 'notification') return undefined
  if (header === undefined) return headerMismatch('Mcp-Method', `it is missing, the body names ${method}`)
  return header === method
    ? undefined
    : headerMismatch('Mcp-Method', `it names ${header}, the body ${method}`)
}

/** Which member of the params `Mcp-Name` repeats. */
const NAME_PARAM_BY_METHOD: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

function nameMismatch({ method, params }: Request, headers: HeaderRecord): HttpErrorResponse | undefined {
  const key = NAME_PARAM_BY_METHOD.get(method)
  const named = key === undefined ? undefined : member(params, key)
  if (typeof named !== 'string') return undefined
  const header = requestHeader(headers, 'mcp-name')
  if (header === undefined)
    return headerMismatch('Mcp-Name', `it is missing, the body has params.${key} "${named}"`)
  const decoded = decodeHeaderValue(header)
  if (decoded === undefined) return headerMismatch('Mcp-Name', 'its Base64 cannot be read')
  return decoded === named
    ? undefined
    : headerMismatch('Mcp-Name', `it names "${decoded}", the body "${named}"`)
}
