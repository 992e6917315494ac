import {
  argumentAt,
  decodeHeaderValue,
  mirroredHeaders,
  type ParamHeader,
  requestHeader,
  type RequestHeaders,
} from '../headers.ts'
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type RpcError,
  type Notification,
  type Request,
  type Response,
  envelopeVersion,
  hasEnvelope,
  META_KEYS,
  metaValue,
} from '../message.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { StatelessClientTranslator } from '../translation/stateless-client.ts'
import type { ClientDescription, PostError, Revision } from './revision.ts'

/**
 * A revision without sessions: every request carries the version, the client and its capabilities in `params._meta`, and
 * headers repeat parts of the body.
 */
export function statelessRevision({ version }: Pick<Revision, 'version'>): Revision {
  return {
    version,
    schemaVersion: version,
    era: 'modern',
    isStateless: true,
    closingCancels: true,
    resumesStreams: false,
    primesStreams: false,
    allowsBatches: false,
    openingMethod: 'server/discover',
    openedNotification: undefined,
    opening: (client) => ({ method: 'server/discover', params: { _meta: envelopeOf(client, version) } }),
    openingResult: (server) => ({
      supportedVersions: [server.version],
      capabilities: server.capabilities,
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      ...(server.serverInfo !== undefined && { _meta: { [META_KEYS.serverInfo]: server.serverInfo } }),
    }),
    agreedVersion: () => undefined,
    requestMeta: (client) => envelopeOf(client, version),
    provenBy({ request: { params }, response }) {
      if (response === undefined || !hasEnvelope(params) || !isStatelessResponse(response)) return undefined
      const requested = envelopeVersion(params)
      const listed = listedVersions(response)
      if (listed === undefined || listed.includes(requested)) return { version: requested }
      // A server may answer the probe and list only versions with sessions. Versions are dates, so they compare as texts.
      const newer = listed.filter((each): each is string => typeof each === 'string' && each >= version)
      return newer.length > 0 ? { version: newer.reduce((a, b) => (a > b ? a : b)) } : undefined
    },
    isProbe: ({ method, params }) => method === 'server/discover' && hasEnvelope(params),
    builtInAnswer(request, server) {
      if (request.method === 'server/discover') return { result: this.openingResult(server()) }
      if (request.method !== 'initialize') return undefined
      return { error: sessionRefusal([server().version], member(request.params, 'protocolVersion')) }
    },
    postHeaders: ({ method, params }, { inputSchemaOf }) =>
      mirroredHeaders(method, params, inputSchemaOf?.(String(member(params, 'name')))),
    checkPost(message, headers, { supported, paramHeadersOf }) {
      if (message.kind === 'response' || message.kind === 'batch') return invalidPost(`a ${message.kind}`)
      if (message.kind === 'invalid') return invalidPost(message.why)
      if (message.kind === 'notification') return methodError(message, headers)
      return (
        envelopeError(message) ??
        versionError(message, requestHeader(headers, 'mcp-protocol-version'), supported) ??
        methodError(message, headers) ??
        nameError(message, headers) ??
        paramError(message, headers, paramHeadersOf)
      )
    },
    httpStatus: (errorCode) => STATUS_BY_ERROR_CODE.get(errorCode) ?? 200,
    isTransportError({ method, params, errorCode, headerVersion }) {
      if (errorCode === INVALID_PARAMS) return headerVersion === version && !hasFullEnvelope(params)
      if (errorCode === UNSUPPORTED_VERSION) return envelopeVersion(params) !== version
      return method === 'server/discover' || TRANSPORT_ERROR_CODES.has(errorCode)
    },
    translator: (options, ports) => new StatelessClientTranslator(options, ports),
  }
}

function envelopeOf({ info, recorded }: ClientDescription, version: string): JsonObject {
  const meta = member(recorded, '_meta')
  return {
    ...(isObject(meta) && meta),
    [META_KEYS.clientCapabilities]: metaValue(recorded, META_KEYS.clientCapabilities) ?? {},
    [META_KEYS.protocolVersion]: metaValue(recorded, META_KEYS.protocolVersion) ?? version,
    [META_KEYS.clientInfo]: info,
  }
}

function hasFullEnvelope(params: unknown): boolean {
  return hasEnvelope(params) && metaValue(params, META_KEYS.clientCapabilities) !== undefined
}

function isStatelessResponse({ outcome }: Response): boolean {
  if ('error' in outcome) return PROTOCOL_ERROR_CODES.has(member(outcome.error, 'code'))
  return isObject(outcome.result) && Object.hasOwn(outcome.result, 'resultType')
}

/** The versions that the server says it supports, if the response lists them. */
function listedVersions({ outcome }: Response): readonly unknown[] | undefined {
  const list =
    'error' in outcome
      ? member(member(outcome.error, 'data'), 'supported')
      : member(outcome.result, 'supportedVersions')
  return Array.isArray(list) ? list : undefined
}

const HEADER_MISMATCH = -32020
const MISSING_CLIENT_CAPABILITY = -32021
const UNSUPPORTED_VERSION = -32022

const PROTOCOL_ERROR_CODES: ReadonlySet<unknown> = new Set([
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  UNSUPPORTED_VERSION,
])

// All other errors are sent with status 200.
const STATUS_BY_ERROR_CODE: ReadonlyMap<unknown, number> = new Map([
  [METHOD_NOT_FOUND, 404],
  [HEADER_MISMATCH, 400],
  [MISSING_CLIENT_CAPABILITY, 400],
  [UNSUPPORTED_VERSION, 400],
])

// The second one is for a body that is not JSON.
const TRANSPORT_ERROR_CODES: ReadonlySet<unknown> = new Set([HEADER_MISMATCH, -32700])

/** The error of a server that supports none of the requested versions. */
function unsupportedVersion(supported: readonly string[], requested: unknown): RpcError {
  const data = { supported, ...(requested !== undefined && { requested }) }
  return { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data }
}

/** The error for a client that opens a session, although the recorded versions have none. */
export function sessionRefusal(recorded: readonly string[], requested: unknown): RpcError {
  const error = unsupportedVersion(recorded, requested)
  const why = `the tape was recorded with ${recorded.join(', ')}, which has no initialize`
  return { ...error, message: `${error.message}: ${why}. ${SESSION_REFUSAL_HINT}` }
}

const SESSION_REFUSAL_HINT =
  'Serve the tape with --as 2025-11-25 to translate it for this client, or use a client that supports this version'

/** The error for a message that a stateless endpoint never accepts. */
export function invalidPost(what: string): PostError {
  return { status: 400, code: INVALID_REQUEST, message: `Bad Request: ${what} cannot be posted here` }
}

const REQUIRED_META = [META_KEYS.protocolVersion, META_KEYS.clientCapabilities] as const

function envelopeError({ params }: Request): PostError | undefined {
  const missing = REQUIRED_META.filter((key) => metaValue(params, key) === undefined)
  const wrong = REQUIRED_META.find((key) => !isWellFormed(key, metaValue(params, key)))
  if (missing.length > 0)
    return invalidEnvelope(`the request lacks ${missing.join(', ')} in params._meta`, { missing })
  return wrong === undefined
    ? undefined
    : invalidEnvelope(`${wrong} in params._meta is not well-formed`, { key: wrong })
}

function isWellFormed(key: (typeof REQUIRED_META)[number], value: unknown): boolean {
  return key === META_KEYS.protocolVersion ? typeof value === 'string' : isObject(value)
}

function invalidEnvelope(why: string, envelope: object): PostError {
  return { status: 400, code: INVALID_PARAMS, message: `Invalid params: ${why}`, data: { envelope } }
}

function versionError(
  { params }: Request,
  header: string | undefined,
  supported: readonly string[],
): PostError | undefined {
  const version = String(envelopeVersion(params))
  if (header !== undefined && header !== version)
    return headerMismatch('MCP-Protocol-Version', `it names ${header}, the body ${version}`)
  if (!supported.includes(version)) return { status: 400, ...unsupportedVersion(supported, version) }
  return header === undefined
    ? headerMismatch('MCP-Protocol-Version', `it is missing, the body names ${version}`)
    : undefined
}

function methodError(
  { method, kind }: Request | Notification,
  headers: RequestHeaders,
): PostError | undefined {
  const header = requestHeader(headers, 'mcp-method')
  if (header === undefined && kind === 'notification') return undefined
  if (header === undefined) return headerMismatch('Mcp-Method', `it is missing, the body names ${method}`)
  return header === method
    ? undefined
    : headerMismatch('Mcp-Method', `it names ${header}, the body ${method}`)
}

/** The member of the params that the header `Mcp-Name` repeats. */
const NAME_PARAM_BY_METHOD: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

function nameError({ method, params }: Request, headers: RequestHeaders): PostError | undefined {
  const key = NAME_PARAM_BY_METHOD.get(method)
  const named = key === undefined ? undefined : member(params, key)
  if (typeof named !== 'string') return undefined
  const header = requestHeader(headers, 'mcp-name')
  if (header === undefined)
    return headerMismatch('Mcp-Name', `it is missing, the body has params.${key} "${named}"`)
  const decoded = decodeHeaderValue(header)
  if (decoded === undefined) return headerMismatch('Mcp-Name', INVALID_BASE64)
  return decoded === named
    ? undefined
    : headerMismatch('Mcp-Name', `it names "${decoded}", the body "${named}"`)
}

function paramError(
  { method, params }: Request,
  headers: RequestHeaders,
  paramHeadersOf: (tool: string) => readonly ParamHeader[],
): PostError | undefined {
  if (method !== 'tools/call') return undefined
  for (const declared of paramHeadersOf(String(member(params, 'name')))) {
    const value = argumentAt(member(params, 'arguments'), declared.path)
    const error = paramMismatch(declared, value, headers)
    if (error !== undefined) return error
  }
  return undefined
}

function paramMismatch(
  { header, path }: ParamHeader,
  value: unknown,
  headers: RequestHeaders,
): PostError | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const given = requestHeader(headers, header)
  if (given === undefined)
    return headerMismatch(header, `it is missing, the body has arguments.${path.join('.')}`)
  const decoded = decodeHeaderValue(given)
  if (decoded === undefined) return headerMismatch(header, INVALID_BASE64)
  const isSame =
    typeof value === 'number' && DECIMAL.test(decoded) ? Number(decoded) === value : decoded === String(value)
  return isSame ? undefined : headerMismatch(header, `it says "${decoded}", the body "${String(value)}"`)
}

const DECIMAL = /^-?\d+(\.\d+)?$/
const INVALID_BASE64 = 'its Base64 cannot be read'

function headerMismatch(header: string, why: string): PostError {
  const message = `Bad Request: the header ${header} and the body disagree: ${why}`
  return { status: 400, code: HEADER_MISMATCH, message, data: { mismatch: { header, why } } }
}
