import type { HeaderRecord } from '../../http/server/served-exchange.ts'
import { decodeUtf8 } from '../../protocol/lines.ts'
import { isObject, member, type Message, type Notification, type Request } from '../../protocol/message.ts'
import { hasModernEnvelope, META_KEYS, metaValue, MODERN_VERSION } from '../../protocol/methods.ts'
import type { HttpErrorResponse } from './posted-message.ts'
import { recordedTools } from '../player/tool-schemas.ts'
import type { TurnStore } from '../../tape/turns.ts'

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

/** An argument of a tool that the client repeats in a header. */
interface MirroredParam {
  readonly header: string
  readonly path: readonly string[]
}

/** Which arguments of the recorded tools are repeated in headers, by what `tools/list` said on the tape. */
export class MirroredParams {
  readonly #byTool = new Map<string, readonly MirroredParam[]>()

  constructor(turns: TurnStore) {
    for (const tool of recordedTools(turns)) this.#add(tool)
  }

  findMismatch({ method, params }: Request, headers: HeaderRecord): HttpErrorResponse | undefined {
    if (this.#byTool.size === 0 || method !== 'tools/call') return undefined
    const declared = this.#byTool.get(String(member(params, 'name'))) ?? []
    for (const each of declared) {
      const refusal = paramMismatch(each, argumentAt(member(params, 'arguments'), each.path), headers)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  #add(tool: unknown): void {
    const mirrored = declaredParams(member(tool, 'inputSchema'), [])
    if (mirrored.length > 0) this.#byTool.set(String(member(tool, 'name')), mirrored)
  }
}

const MAX_DEPTH = 64

function declaredParams(schema: unknown, path: readonly string[]): readonly MirroredParam[] {
  const properties = member(schema, 'properties')
  if (!isObject(properties) || path.length > MAX_DEPTH) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = member(property, 'x-mcp-header')
    const at = [...path, name]
    const own = typeof header === 'string' ? [{ header: `mcp-param-${header.toLowerCase()}`, path: at }] : []
    return [...own, ...declaredParams(property, at)]
  })
}

function argumentAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => member(inner, name), value)
}

function paramMismatch(
  { header, path }: MirroredParam,
  value: unknown,
  headers: HeaderRecord,
): HttpErrorResponse | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const given = requestHeader(headers, header)
  if (given === undefined)
    return headerMismatch(header, `it is missing, the body has arguments.${path.join('.')}`)
  const decoded = decodeHeaderValue(given)
  if (decoded === undefined) return headerMismatch(header, 'its Base64 cannot be read')
  const isSame =
    typeof value === 'number' && DECIMAL.test(decoded) ? Number(decoded) === value : decoded === String(value)
  return isSame ? undefined : headerMismatch(header, `it says "${decoded}", the body "${String(value)}"`)
}

const DECIMAL = /^-?\d+(\.\d+)?$/

/** One header by its lower-case name. */
function requestHeader(headers: HeaderRecord, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : value?.join(', ')
}

const CODED = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The value of a header that repeats a part of the body: what HTTP cannot carry is in Base64. Undefined when that is broken. */
function decodeHeaderValue(value: string): string | undefined {
  const coded = CODED.exec(value)?.[1]
  if (coded === undefined) return value
  return BASE64.test(coded) ? decodeUtf8(Buffer.from(coded, 'base64')) : undefined
}

function headerMismatch(header: string, why: string): HttpErrorResponse {
  const message = `Bad Request: the header ${header} and the body disagree: ${why}`
  return { status: 400, code: -32020, message, data: { mismatch: { header, why } } }
}
