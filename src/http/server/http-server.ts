import { type IncomingMessage, createServer, type Server } from 'node:http'
import { ReelayError } from '../../errors.ts'
import { type RawHeaders, MAX_HEAD_BYTES } from '../headers.ts'

/** Headers by their lower-case names. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>

/** A request that was read whole. */
interface FastRequest {
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
const CODE_BY_STATUS = { 400: -39400, 403: -39403, 502: -39502 } as const

/** Sends an error in place of the server. The error says that it comes from Reelay. */
export function sendErrorResponse(
  res: ServedResponse,
  status: keyof typeof CODE_BY_STATUS,
  why: string,
): void {
  const error = { code: CODE_BY_STATUS[status], message: `reelay: ${why}`, data: { by: 'reelay' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error })
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  res.end(body)
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Creates the server of a proxy. Client and server decide how long requests, responses and idle streams may take, so there are no timeouts for them. */
export function createHttpServer(): Server {
  return createServer({
    keepAlive: true,
    noDelay: true,
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: 65_000, // between two requests
    headersTimeout: 60_000,
    requestTimeout: 0,
  })
}

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

function listenError(host: string, port: number, cause: Error): ReelayError {
  const hint = 'choose another port, or leave it out to get a free one'
  return new ReelayError('LISTEN_FAILED', `cannot listen on ${host}:${port}: ${cause.message}`, {
    hint,
    cause,
  })
}
