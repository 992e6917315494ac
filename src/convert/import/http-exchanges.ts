import { findHeader, isEventStream, type RawHeaders } from '../../http/headers.ts'
import { isObject, parseJson } from '../../json/parse.ts'
import { classifyMessage, type Direction } from '../../protocol/message.ts'
import { type SseEvent, SseReader } from '../../protocol/sse.ts'
import { decodeWhole, isDecodable } from '../../record/http/bodies.ts'
import type { SseFields } from '../../tape/frame.ts'
import type { TapeServer } from '../../tape/header.ts'
import { FrameList } from './frame-list.ts'
import type { ImportedPlace, ImportedRecording } from './import-format.ts'

/** An HTTP request and its response, as an archive or a capture contains them. */
export interface CapturedExchange {
  /** Scheme, host and path of the request. */
  readonly url: URL
  readonly method: string
  readonly headers: RawHeaders
  readonly body: Uint8Array | undefined
  readonly at: number
  readonly response: CapturedResponse | undefined
}

export interface CapturedResponse {
  readonly status: number
  readonly headers: RawHeaders
  /** The body in the pieces in which it arrived. */
  readonly pieces: readonly { readonly at: number; readonly bytes: Uint8Array }[]
  readonly at: number
}

/**
 * Makes a recording of those exchanges that are MCP. An archive or a capture usually contains other traffic too: an endpoint is MCP
 * if one of its exchanges contains a JSON-RPC message.
 */
export function recordingOfExchanges(captured: readonly CapturedExchange[]): ImportedRecording {
  const exchanges = captured.toSorted((a, b) => a.at - b.at)
  const endpoints = mcpEndpoints(exchanges)
  const mcp = exchanges.filter(({ url }) => endpoints.has(endpointOf(url)))
  const list = new FrameList()
  const conns = new SessionConns()
  for (const [index, exchange] of mcp.entries()) {
    const server = endpoints.get(endpointOf(exchange.url))?.name
    addExchange(list, exchange, { server, conn: conns.connOf(server ?? '', exchange), x: index + 1 })
  }
  const others = exchanges.length - mcp.length
  const servers = Object.fromEntries(
    [...endpoints.values()].map(({ name, url }): [string, TapeServer] => [name, { transport: 'http', url }]),
  )
  return {
    frames: list.inOrderOfTime(),
    notes: [...list.notes, ...(others > 0 ? [`skipped ${others} HTTP exchanges that are not MCP`] : [])],
    servers,
  }
}

interface McpEndpoint {
  readonly name: string
  readonly url: string
}

function endpointOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

/** The endpoints of a server of the HTTP+SSE transport, which has two, belong to one server. */
function mcpEndpoints(exchanges: readonly CapturedExchange[]): ReadonlyMap<string, McpEndpoint> {
  const endpoints = new Map<string, McpEndpoint>()
  const streams = new Map<string, McpEndpoint>()
  const names = new Set<string>()
  for (const exchange of exchanges) {
    const key = endpointOf(exchange.url)
    if (endpoints.has(key) || !isMcp(exchange)) continue
    const known = exchange.method === 'POST' ? streams.get(exchange.url.origin) : undefined
    const made = known ?? { name: freeName(exchange.url, names), url: key }
    names.add(made.name)
    endpoints.set(key, made)
    if (namesEndpoint(exchange)) streams.set(exchange.url.origin, made)
  }
  return endpoints
}

function freeName({ host, pathname }: URL, taken: ReadonlySet<string>): string {
  const plain = host.replaceAll(/[^A-Za-z0-9._-]+/g, '-')
  if (!taken.has(plain)) return plain
  return `${plain}${pathname.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/-$/, '')}`
}

function isMcp(exchange: CapturedExchange): boolean {
  if (hasJsonRpc(exchange.body)) return true
  if (exchange.response === undefined) return false
  return namesEndpoint(exchange) || (exchange.method === 'GET' && hasRpcEvent(exchange.response))
}

function hasJsonRpc(body: Uint8Array | undefined): boolean {
  if (body === undefined || body.length === 0) return false
  const value = parseJson(new TextDecoder().decode(body))
  const [first] = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  return isObject(first) && classifyMessage(first).kind !== 'invalid'
}

/** The first event of the HTTP+SSE transport names the address for messages. */
function namesEndpoint({ method, response }: CapturedExchange): boolean {
  return method === 'GET' && response !== undefined && /^event: ?endpoint\b/m.test(responseText(response))
}

function hasRpcEvent(response: CapturedResponse): boolean {
  return isEventStream(response.headers) && /^data:.*"jsonrpc"\s*:\s*"2\.0"/m.test(responseText(response))
}

function responseText({ pieces }: CapturedResponse): string {
  return pieces.map(({ bytes }) => new TextDecoder().decode(bytes)).join('')
}

/**
 * Numbers the connections of each server, as the recorder does: a session is one, named by its header or by the endpoint of an
 * HTTP+SSE stream. Without a session each exchange is one, because ids may repeat.
 */
class SessionConns {
  readonly #conns = new Map<string, number>()
  readonly #last = new Map<string, number>()

  connOf(server: string, exchange: CapturedExchange): number {
    const { url, headers, response } = exchange
    const asked = findHeader(headers, 'mcp-session-id') ?? `${url.pathname}${url.search}`
    const conn = this.#conns.get(`${server} ${asked}`) ?? (this.#last.get(server) ?? 0) + 1
    this.#last.set(server, Math.max(conn, this.#last.get(server) ?? 0))
    const named =
      findHeader(response?.headers ?? [], 'mcp-session-id') ?? findHeader(headers, 'mcp-session-id')
    for (const session of [named, openedEndpoint(exchange)])
      if (session !== undefined) this.#conns.set(`${server} ${session}`, conn)
    return conn
  }
}

/** The path that the first event of an HTTP+SSE stream names for the messages of this connection. */
function openedEndpoint({ url, method, response }: CapturedExchange): string | undefined {
  if (method !== 'GET' || response === undefined) return undefined
  const data = /^event: ?endpoint\r?\ndata: ?(\S+)/m.exec(responseText(response))?.[1]
  if (data === undefined || !URL.canParse(data, url.href)) return undefined
  const { pathname, search } = new URL(data, url)
  return `${pathname}${search}`
}

type ExchangePlace = Required<Pick<ImportedPlace, 'server' | 'conn' | 'x'>>

function addExchange(list: FrameList, exchange: CapturedExchange, place: ExchangePlace): void {
  const { url, method, headers, body, response, at } = exchange
  const path = `${url.pathname}${url.search}`
  list.frames.push({
    kind: 'http',
    dir: 'c2s',
    http: { method, path, headers: pairsOf(headers) },
    at,
    ...place,
  })
  if (body !== undefined && body.length > 0)
    addBody(list, 'c2s', new TextDecoder().decode(body), { at, ...place })
  if (response === undefined) return list.event('abort', { by: 'server' }, { at, ...place })
  const head = { status: response.status, headers: pairsOf(response.headers) }
  list.frames.push({ kind: 'http', dir: 's2c', http: head, at: response.at, ...place })
  const decoded = decodePieces(response)
  if (decoded === undefined) list.skip('bodies that could not be decompressed')
  else if (isEventStream(response.headers)) addEvents(list, decoded, place)
  else {
    const text = decoded.map(({ bytes }) => new TextDecoder().decode(bytes)).join('')
    if (text.trim() !== '') addBody(list, 's2c', text, { at: decoded.at(-1)?.at ?? response.at, ...place })
  }
}

function addBody(list: FrameList, dir: Direction, text: string, place: ImportedPlace): void {
  list.text(dir, text.trim(), place)
}

function pairsOf(headers: RawHeaders): readonly (readonly [string, string])[] {
  return Array.from(
    { length: headers.length >> 1 },
    (_, at) => [headers[2 * at]!, headers[2 * at + 1]!] as const,
  )
}

/** Compressed bodies are decoded as a whole, so that their pieces have the time of the last one. */
function decodePieces({ headers, pieces }: CapturedResponse): CapturedResponse['pieces'] | undefined {
  const encoding = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return pieces
  const last = pieces.at(-1)
  if (last === undefined) return []
  const whole = Buffer.concat(pieces.map((piece) => piece.bytes))
  const bytes = isDecodable(encoding) ? decodeWhole(whole, encoding, MAX_DECODED) : undefined
  return typeof bytes === 'object' ? [{ at: last.at, bytes }] : undefined
}

const MAX_DECODED = 64 * 1024 * 1024

function addEvents(list: FrameList, pieces: CapturedResponse['pieces'], place: ExchangePlace): void {
  let at = pieces[0]?.at
  const reader = new SseReader({
    maxBytes: MAX_DECODED,
    onEvent: (event) => addEvent(list, event, { ...place, at }),
    onComment: (comment) => list.event('sse', { comment }, { ...place, at }),
  })
  for (const piece of pieces) {
    at = piece.at
    reader.push(piece.bytes)
  }
  const rest = Buffer.concat(reader.end().parts).toString('utf8')
  if (rest.trim() !== '') list.raw('s2c', rest, 'the stream broke off within an event', { ...place, at })
}

function addEvent(list: FrameList, { id, event, retry, data }: SseEvent, place: ImportedPlace): void {
  const sse: SseFields = {
    ...(id !== undefined && { id }),
    ...(event !== undefined && { event }),
    ...(retry !== undefined && { retry }),
  }
  const text = data === undefined ? '' : Buffer.concat(data.parts).toString('utf8')
  if (isObject(parseJson(text)) || Array.isArray(parseJson(text)))
    list.frames.push({ kind: 'message', dir: 's2c', text, sse, ...place })
  else if (text !== '' && (event ?? 'message') === 'message') list.raw('s2c', text, 'not JSON', place)
  else list.event('sse', { sse, ...(data !== undefined && { data: text }) }, place)
}
