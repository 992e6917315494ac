import { type IncomingMessage, createServer, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ReelayError } from '../../errors.ts'
import { member } from '../../json/parse.ts'
import { type RawHeaders, MAX_HEAD_BYTES, MAX_HEADERS } from '../headers.ts'
import { isHostHeader } from '../hosts.ts'

/** Headers by their lower-case names. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>

/** A request that was read whole. */
export interface FastRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawHeaders: RawHeaders
  readonly body: Buffer
}

/** A request of a client, read by Node or by the fast listener. */
export type ServedRequest = IncomingMessage | FastRequest

/** The part of Node's `ServerResponse` that is used. The fast listener has its own implementation. */
export interface ServedResponse {
  /** Whether the client has disconnected, or has received everything. */
  readonly destroyed: boolean
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly writableNeedDrain: boolean
  writeHead(status: number, headers?: Readonly<Record<string, string | number>>): this
  flushHeaders(): void
  write(text: string): boolean
  end(text?: string): unknown
  destroy(): unknown
  on(event: 'close' | 'drain', action: () => void): unknown
}

export type ServedHandler = (req: ServedRequest, res: ServedResponse) => void

/** Discards the rest of a request. */
export function discardBody(req: ServedRequest): void {
  if (!('body' in req)) req.resume()
}

/** Error codes of our own, outside the ranges that JSON-RPC and MCP reserve, so that they differ from the server's. */
const CODE_BY_STATUS = {
  400: -39400,
  403: -39403,
  407: -39407,
  431: -39431,
  501: -39501,
  502: -39502,
  505: -39505,
} as const

/** Sends an error in place of the server. The error says that it comes from Reelay. */
export function sendErrorResponse(
  res: ServedResponse,
  status: keyof typeof CODE_BY_STATUS,
  why: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const error = { code: CODE_BY_STATUS[status], message: `reelay: ${why}`, data: { by: 'reelay' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error })
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  res.end(body)
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Creates the server of a proxy. Client and server decide how long requests, responses and idle streams may take, so there are no timeouts for them. */
export function createHttpServer(): Server {
  const server = createServer({
    keepAlive: true,
    noDelay: true,
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: 65_000, // between two requests
    headersTimeout: 60_000,
    requestTimeout: 0,
  })
  // No limit, because Node would drop the rest without a word. `headProblem` counts the headers.
  server.maxHeadersCount = 0
  server.on('timeout', closeIfSilent)
  return server
}

/**
 * Closes a connection that was idle for too long, unless a request is already waiting in it: a process that stood still reads its
 * clock before its sockets.
 */
export function closeIfSilent(socket: Socket): void {
  const { bytesRead } = socket
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy()
  })
}

/**
 * Passes requests to a handler. A request that another reader could understand differently is answered with an error, and
 * nothing more is read from its connection.
 */
export function handleRequests(
  server: Server,
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  onRefused?: (why: string) => void,
): void {
  const refused = new WeakSet<Socket>()
  server.on('request', (req, res) => {
    if (refused.has(req.socket)) return
    const problem = headProblem(req)
    if (problem === undefined) return handler(req, res)
    refused.add(req.socket)
    onRefused?.(problem.why)
    req.resume()
    sendErrorResponse(res, problem.status, problem.why, { Connection: 'close' })
  })
}

interface HeadProblem {
  readonly status: 400 | 431 | 501 | 505
  readonly why: string
}

/** Returns undefined if a head can be read in only one way. Node has already refused most of the others. */
export function headProblem({
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): HeadProblem | undefined {
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return { status: 431, why: `the request has more than ${MAX_HEADERS} headers` }
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return { status: 505, why: `HTTP/${httpVersion} is not supported` }
  const sole: Record<string, string> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (!SOLE_HEADER_LENGTHS.has(name.length)) continue // skips most names
    const key = name.toLowerCase()
    if (!SOLE_HEADERS.has(key)) continue
    if (sole[key] !== undefined) return { status: 400, why: `the request has two ${name} headers` }
    sole[key] = rawHeaders[at + 1]!
  }
  const { host, 'content-length': length, 'transfer-encoding': coding } = sole
  if (host !== undefined && !isHostHeader(host)) return { status: 400, why: `Invalid Host: ${host}` }
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    return { status: 400, why: `Invalid Content-Length: ${length}` }
  if (coding === undefined) return undefined
  if (length !== undefined || httpVersion === '1.0')
    return { status: 400, why: 'the length of the request is ambiguous' }
  if (coding.toLowerCase() === 'chunked') return undefined
  return { status: 501, why: `the transfer coding ${JSON.stringify(coding)} is not supported` }
}

/** Headers of which only one has a meaning. */
const SOLE_HEADERS = new Set(['host', 'origin', 'content-length', 'transfer-encoding'])
const SOLE_HEADER_LENGTHS = new Set([...SOLE_HEADERS].map((name) => name.length))

/** Starts to listen. Returns the origin. */
export async function listenOn(server: Server, { host, port }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name}:${typeof address === 'object' ? address?.port : port}`
}

const NOT_OF_THIS_MACHINE =
  'the host is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for all of its addresses'
const LISTEN_HINTS: ReadonlyMap<unknown, string> = new Map([
  ['EADDRNOTAVAIL', NOT_OF_THIS_MACHINE],
  ['ENOTFOUND', NOT_OF_THIS_MACHINE],
  ['EAI_AGAIN', NOT_OF_THIS_MACHINE],
  ['EACCES', 'ports below 1024 need special rights: choose a higher port, or leave it out to get a free one'],
])

function listenError(host: string, port: number, cause: Error): ReelayError {
  const hint =
    LISTEN_HINTS.get(member(cause, 'code')) ?? 'choose another port, or leave it out to get a free one'
  return new ReelayError('LISTEN_FAILED', `cannot listen on ${host}:${port}: ${cause.message}`, {
    hint,
    cause,
  })
}
