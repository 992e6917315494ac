import { isObject, member, parseJson } from '../json/parse.ts'
import { envelopeVersion, type Request } from './message.ts'
import { decodeUtf8 } from './lines.ts'

/** Headers of a received request, by their lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export function requestHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : value?.join(', ')
}

/** The headers of a stateless POST that repeat parts of its body. */
export function mirroredHeaders(
  method: string,
  params: unknown,
  inputSchema?: unknown,
): Readonly<Record<string, string>> {
  const version = envelopeVersion(params)
  const name = nameHeaderValue(method, params)
  return {
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    'mcp-method': encodeHeaderValue(method),
    ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    ...(method === 'tools/call' && paramHeaders(member(params, 'arguments'), inputSchema)),
  }
}

/**
 * The headers that repeat parts of a message, for a message that was changed: the new values, and `undefined` for headers that it
 * must not have any more. `given` are the headers of the message before. A header that repeats an argument is recognized by its
 * value, because the schema of the tool is not known.
 */
export function remirroredHeaders(
  given: Readonly<Record<string, string>>,
  before: Pick<Request, 'method' | 'params'>,
  after: Pick<Request, 'method' | 'params'>,
): Readonly<Record<string, string | undefined>> {
  const [old, changed] = [before, after].map(({ method, params }) => mirroredHeaders(method, params))
  const replaced: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('mcp-param-')) {
      const path = pathOfText(member(before.params, 'arguments'), decodeHeaderValue(value))
      if (path === undefined) continue
      const now = argumentAt(member(after.params, 'arguments'), path)
      replaced[name] = isMirroredValue(now) ? encodeHeaderValue(String(now)) : undefined
    } else if (value === old?.[name]) replaced[name] = changed?.[name]
  }
  const isMirrored = given['mcp-method'] !== undefined
  for (const [name, value] of Object.entries(changed ?? {}))
    if (isMirrored && given[name] === undefined && value !== old?.[name]) replaced[name] = value
  return replaced
}

/** The path of the first value that is written like a text. */
function pathOfText(values: unknown, text: string | undefined, depth = 0): readonly string[] | undefined {
  if (!isObject(values) || text === undefined || depth > MAX_SCHEMA_DEPTH) return undefined
  for (const [name, value] of Object.entries(values)) {
    if (isMirroredValue(value) && String(value) === text) return [name]
    const inside = pathOfText(value, text, depth + 1)
    if (inside !== undefined) return [name, ...inside]
  }
  return undefined
}

function nameHeaderValue(method: string, params: unknown): string | undefined {
  const name = method.startsWith('tasks/')
    ? member(params, 'taskId')
    : (member(params, 'name') ?? member(params, 'uri'))
  return typeof name === 'string' ? name : undefined
}

function paramHeaders(values: unknown, inputSchema: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const { header, path } of paramHeadersIn(inputSchema)) {
    const value = argumentAt(values, path)
    if (isMirroredValue(value)) headers[header] = encodeHeaderValue(String(value))
  }
  return headers
}

/** A header that repeats an argument of a tool. */
export interface ParamHeader {
  /** The lower-case name. */
  readonly header: string
  readonly path: readonly string[]
}

/** The arguments that the input schema of a tool marks with `x-mcp-header`. */
export function paramHeadersIn(inputSchema: unknown, path: readonly string[] = []): readonly ParamHeader[] {
  const properties = member(inputSchema, 'properties')
  if (!isObject(properties) || path.length > MAX_SCHEMA_DEPTH) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = member(property, 'x-mcp-header')
    const at = [...path, name]
    const isHeaderName = typeof header === 'string' && HEADER_NAME.test(header)
    const own = isHeaderName ? [{ header: `mcp-param-${header.toLowerCase()}`, path: at }] : []
    return [...own, ...paramHeadersIn(property, at)]
  })
}

const MAX_SCHEMA_DEPTH = 64
const HEADER_NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/

export function argumentAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce(member, values)
}

function isMirroredValue(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value)
}

/** Encodes a value for a header: as Base64 unless it is printable ASCII that does not look like an encoded value. */
function encodeHeaderValue(value: string): string {
  const isPlain = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/.test(value)
  if (isPlain && !value.startsWith('=?base64?')) return value
  return `=?base64?${btoa(binaryText(new TextEncoder().encode(value)))}?=`
}

function binaryText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

/** Decodes a header value. Returns `undefined` if its Base64 is invalid. */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = ENCODED_VALUE.exec(value)?.[1]
  if (encoded === undefined) return value
  if (!BASE64.test(encoded)) return undefined
  return decodeUtf8(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0)))
}

const ENCODED_VALUE = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** An HTTP request of which it is not known yet whether it goes to an MCP server. */
interface UnknownRequest {
  readonly method: string
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => string | undefined
  readonly body: string | undefined
}

/**
 * Recognizes a request to an MCP server: it has the form of a Streamable HTTP request, or the form of an HTTP+SSE request and
 * either a header of MCP or a client that is known to be one of MCP. Everything else is `other`.
 */
export function mcpRequestKind(
  { method, header, body }: UnknownRequest,
  isMcpClient: boolean,
): 'streamable' | 'sse stream' | 'sse message' | 'other' {
  const isMcp = ['mcp-session-id', 'mcp-protocol-version'].some((name) => header(name) !== undefined)
  switch (method) {
    case 'POST':
      if (!isJsonRpc(body)) return 'other'
      if (acceptsMcpResponses(header('accept'))) return 'streamable'
      return isMcpClient || isMcp ? 'sse message' : 'other'
    case 'GET':
      if (header('accept')?.includes(EVENT_STREAM) !== true) return 'other'
      return isMcp ? 'streamable' : isMcpClient ? 'sse stream' : 'other'
    case 'DELETE':
      return isMcp ? 'streamable' : 'other'
    default:
      return 'other'
  }
}

const EVENT_STREAM = 'text/event-stream'

/** A POST of Streamable HTTP accepts both forms of a response. Hardly any other request does. */
export function acceptsMcpResponses(accept = ''): boolean {
  return accept.includes(EVENT_STREAM) && accept.includes('application/json')
}

function isJsonRpc(body: string | undefined): boolean {
  const value = body === undefined ? undefined : parseJson(body)
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value]
  return isObject(first) && first['jsonrpc'] === '2.0'
}
