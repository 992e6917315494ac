import type { IncomingMessage, ServerResponse } from 'node:http'
import { ReelayError } from '../errors.ts'
import { HostCheck, isLoopback } from '../http/hosts.ts'
import { createHttpServer, handleRequests, listenOn, type ListenAddress } from '../http/server/http-server.ts'
import { parseJson } from '../json/parse.ts'
import { MAX_UNREAD_BYTES, type ControlPeer, type ControlSessions } from './control-sessions.ts'

interface ControlHttp {
  readonly origin: string
  readonly close: () => void
}

/**
 * Offers the control socket over HTTP, for programs that cannot open one: `GET /events` is a stream of server-sent events, and
 * `POST /commands` runs a command. Web pages of other origins are rejected, and there are no CORS headers.
 */
export async function startControlHttp(
  listen: ListenAddress,
  sessions: ControlSessions,
): Promise<ControlHttp> {
  if (!isLoopback(listen.host))
    throw new ReelayError('LISTEN_FAILED', `the control endpoint cannot listen on ${listen.host}`, {
      hint: 'other machines could read and change messages: listen on 127.0.0.1',
    })
  const server = createHttpServer()
  const hosts = new HostCheck(listen.host)
  const origin = await listenOn(server, listen)
  handleRequests(server, (req, res) => {
    const problem = rejection(req, { hosts, origin, sessions })
    if (problem !== undefined) return refuse(res, problem.status, problem.why)
    const path = (req.url ?? '/').split('?', 1)[0]
    if (req.method === 'GET' && path === '/events') return streamEvents(req, res, sessions)
    if (req.method === 'POST' && path === '/commands') return void runCommand(req, res, sessions)
    refuse(res, 404, 'there is GET /events and POST /commands')
  })
  server.unref()
  return {
    origin,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface HttpChecks {
  readonly hosts: HostCheck
  readonly origin: string
  readonly sessions: ControlSessions
}

/** A page of another origin could reach this server by DNS rebinding, so both names are checked before the token. */
function rejection(
  { rawHeaders, headers }: IncomingMessage,
  { hosts, origin, sessions }: HttpChecks,
): { readonly status: number; readonly why: string } | undefined {
  const why = hosts.rejectionReason(rawHeaders)
  if (why !== undefined) return { status: 403, why }
  if (headers.origin !== undefined && headers.origin !== origin)
    return { status: 403, why: `Invalid Origin: ${headers.origin}` }
  const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? []
  return sessions.isToken(token) ? undefined : { status: 401, why: 'the token is missing or wrong' }
}

function refuse(res: ServerResponse, status: number, message: string): void {
  sendJson(res, status, { ok: false, error: { code: 'USAGE', message } })
}

function sendJson(res: ServerResponse, status: number, value: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  res.end(JSON.stringify(value))
}

function streamEvents(req: IncomingMessage, res: ServerResponse, sessions: ControlSessions): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  const isWatching = new URLSearchParams((req.url ?? '').split('?')[1]).get('watch') === '1'
  const send = (event: object): void => {
    if (res.writableLength > MAX_UNREAD_BYTES) res.destroy() // a client that does not read
    else res.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  const detach = sessions.attach({ name: 'http', isWatching, send })
  res.on('close', detach)
}

const MAX_BODY_BYTES = 64 * 1024 * 1024

async function runCommand(
  req: IncomingMessage,
  res: ServerResponse,
  sessions: ControlSessions,
): Promise<void> {
  const client: ControlPeer = { name: 'http', isWatching: true, send() {} }
  const body = await readBody(req)
  if (body === 'aborted') return
  if (body === undefined) return refuse(res, 413, 'the command is too long')
  const reply = await sessions.run(parseJson(body.toString('utf8')), client)
  sendJson(res, 'ok' in reply && reply.ok === true ? 200 : 400, reply)
}

/** Returns `undefined` if the body is too long, and `aborted` if the client left before its end. */
async function readBody(req: IncomingMessage): Promise<Buffer | 'aborted' | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > MAX_BODY_BYTES) return undefined
      chunks.push(chunk)
    }
  } catch {
    return 'aborted'
  }
  return Buffer.concat(chunks)
}
