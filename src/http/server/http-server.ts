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

/** A request of a client: one that Node reads, or one that we read. */
export type ServedRequest = IncomingMessage | FastRequest

/** The way to answer a request, as far as it is used. Node's own is one. */
export interface ServedResponse {
  /** Whether the client is gone, or has everything. */
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

/** What is left of a request is not looked at. */
export function discardBody(req: ServedRequest): void {
  if (!('body' in req)) req.resume()
}

/** Codes of our own answers: outside every range that JSON-RPC and MCP reserve, so that none is taken for the server's. */
const CODE_BY_STATUS = { 400: -39400, 403: -39403, 502: -39502 } as const

/** Answers in place of the server, and says that it does. */
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

/** A server for the clients of a proxy. How long a request, an answer or a quiet stream may take is for its two ends to say, never for us. */
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

/** Begins to listen, and says where. */
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
