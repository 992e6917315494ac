import type { Headers } from '../../transport/http1/exchange.ts'
import { isObject, member, type Message, type Notification, type Request } from '../../wire/message.ts'
import { isEnveloped, META, metaOf, MODERN_VERSION } from '../../wire/methods.ts'
import { decodedHeader, headerIn, mismatch } from './mirrored-header.ts'
import type { MirroredParams } from './mirrored-params.ts'
import type { Refusal } from './refusal.ts'

/** Whether a message is of the modern era: it carries the envelope, or its header says so. */
export function isModern(message: Message, headers: Headers): boolean {
  const isCall = message.kind === 'request' || message.kind === 'notification'
  return (
    (isCall && isEnveloped(message.params)) || headerIn(headers, 'mcp-protocol-version') === MODERN_VERSION
  )
}

/** What 2026-07-28 asks of a message and of the headers that repeat parts of it; nothing when all is well. */
export function modernRefusal(
  message: Message,
  headers: Headers,
  mirrored: MirroredParams,
): Refusal | undefined {
  if (message.kind === 'response' || message.kind === 'batch') return invalid(`a ${message.kind}`)
  if (message.kind === 'invalid') return invalid(message.why)
  const version = headerIn(headers, 'mcp-protocol-version')
  if (message.kind === 'notification') return methodMismatch(message, headers)
  return (
    envelopeRefusal(message) ??
    versionRefusal(message, version) ??
    methodMismatch(message, headers) ??
    nameMismatch(message, headers) ??
    mirrored.mismatchIn(message, headers)
  )
}

function invalid(what: string): Refusal {
  return { status: 400, code: -32600, message: `Bad Request: ${what} cannot be posted here` }
}

const REQUIRED = [META.protocolVersion, META.clientCapabilities] as const

function envelopeRefusal({ params }: Request): Refusal | undefined {
  const missing = REQUIRED.filter((key) => metaOf(params, key) === undefined)
  const wrong = REQUIRED.find((key) => !isWellFormed(key, metaOf(params, key)))
  if (missing.length > 0)
    return badEnvelope(`the request lacks ${missing.join(', ')} in params._meta`, { missing })
  return wrong === undefined
    ? undefined
    : badEnvelope(`${wrong} in params._meta is not well-formed`, { key: wrong })
}

function isWellFormed(key: (typeof REQUIRED)[number], value: unknown): boolean {
  return key === META.protocolVersion ? typeof value === 'string' : isObject(value)
}

function badEnvelope(why: string, envelope: object): Refusal {
  return { status: 400, code: -32602, message: `Invalid params: ${why}`, data: { envelope } }
}

function versionRefusal({ params }: Request, header: string | undefined): Refusal | undefined {
  const named = String(metaOf(params, META.protocolVersion))
  if (header !== undefined && header !== named)
    return mismatch('MCP-Protocol-Version', `it names ${header}, the body ${named}`)
  if (named !== MODERN_VERSION) return unsupported(named)
  return header === undefined
    ? mismatch('MCP-Protocol-Version', `it is missing, the body names ${named}`)
    : undefined
}

function unsupported(requested: string): Refusal {
  const data = { supported: [MODERN_VERSION], requested }
  return { status: 400, code: -32022, message: 'Unsupported protocol version', data }
}

function methodMismatch({ method, kind }: Request | Notification, headers: Headers): Refusal | undefined {
  const header = headerIn(headers, 'mcp-method')
  if (header === undefined && kind === 'notification') return undefined
  if (header === undefined) return mismatch('Mcp-Method', `it is missing, the body names ${method}`)
  return header === method ? undefined : mismatch('Mcp-Method', `it names ${header}, the body ${method}`)
}

/** Which member of the params `Mcp-Name` repeats. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

function nameMismatch({ method, params }: Request, headers: Headers): Refusal | undefined {
  const key = NAMED_BY.get(method)
  const named = key === undefined ? undefined : member(params, key)
  if (typeof named !== 'string') return undefined
  const header = headerIn(headers, 'mcp-name')
  if (header === undefined)
    return mismatch('Mcp-Name', `it is missing, the body has params.${key} "${named}"`)
  const decoded = decodedHeader(header)
  if (decoded === undefined) return mismatch('Mcp-Name', 'its Base64 cannot be read')
  return decoded === named ? undefined : mismatch('Mcp-Name', `it names "${decoded}", the body "${named}"`)
}
