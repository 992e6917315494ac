import type { ServedRequest, ServedResponse } from '../../http/server/served-exchange.ts'
import { member, type Message } from '../../protocol/message.ts'
import { sessionRevisionOf, sessionVersions } from '../../protocol/revisions/index.ts'
import { parseJson } from '../../json/parse.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import { ClientPresence, LegacySession } from './legacy-session.ts'
import {
  acceptedTypes,
  postedId,
  type PostedMessage,
  methodNotAllowed,
  sendHttpError,
  type HttpErrorResponse,
} from './posted-message.ts'

/** Streamable HTTP as it was from 2025-03-26 to 2025-11-25: sessions, a standing stream, streams that can be resumed. */
export class LegacyEndpoint {
  readonly #connections: ClientSessions
  readonly #role: Pick<ServedRecording, 'heads' | 'newId'>
  readonly #sessions = new Map<string, LegacySession>()

  constructor(connections: ClientSessions, role: Pick<ServedRecording, 'heads' | 'newId'>) {
    this.#connections = connections
    this.#role = role
  }

  post(posted: PostedMessage): void {
    const { req, res, message } = posted
    const accepts = acceptedTypes(req)
    if (!accepts.json || !accepts.stream) return sendHttpError(res, NOT_ACCEPTABLE)
    if (message.kind === 'invalid') return sendHttpError(res, invalid(`Invalid Request: ${message.why}`))
    if (holdsInitialize(message)) return this.#startSession(posted)
    const session = this.#sessionOf(req, res, posted)
    if (session === undefined) return
    if (isToBeAnswered(message)) return session.handleRequest(posted)
    session.handleMessage(posted)
    res.writeHead(202, session.headers).end()
  }

  get(req: ServedRequest, res: ServedResponse): void {
    if (!acceptedTypes(req).stream) return sendHttpError(res, NO_STREAM)
    const session = this.#sessionOf(req, res)
    if (session === undefined) return
    const last = req.headers['last-event-id']
    const outcome =
      typeof last === 'string'
        ? session.resume(res, last)
        : session.openStandingStream(res)
          ? 'resumed'
          : 'taken'
    if (outcome === 'unknown') sendHttpError(res, UNKNOWN_EVENT)
    if (outcome === 'taken') sendHttpError(res, TAKEN)
  }

  delete(req: ServedRequest, res: ServedResponse): void {
    const session = this.#sessionOf(req, res)
    if (session === undefined) return
    this.#endSession(session)
    res.writeHead(200, { 'Content-Length': 0 }).end()
  }

  rejectMethod(res: ServedResponse): void {
    sendHttpError(res, methodNotAllowed('GET, POST, DELETE'))
  }

  close(): void {
    for (const session of this.#sessions.values()) session.end()
    this.#sessions.clear()
  }

  #endSession(session: LegacySession): void {
    this.#sessions.delete(session.id)
    session.end()
  }

  #startSession(posted: PostedMessage): void {
    const { req, res, message } = posted
    if (req.headers['mcp-session-id'] !== undefined) return sendHttpError(res, ALREADY)
    if (message.kind === 'batch') return sendHttpError(res, NOT_IN_BATCH)
    const session = new LegacySession(this.#connections, this.#role)
    const { keepLiveMs } = this.#connections
    if (keepLiveMs !== undefined)
      session.attendance = new ClientPresence(() => this.#endSession(session), keepLiveMs)
    session.handleRequest(posted, (text) => {
      const result = member(text === undefined ? undefined : parseJson(text), 'result')
      if (result === undefined) return
      this.#sessions.set(session.id, session)
      session.setRevision(sessionRevisionOf(member(result, 'protocolVersion')))
    })
  }

  /** The session that a request names; one that names none, or one that is over, is refused. */
  #sessionOf(req: ServedRequest, res: ServedResponse, posted?: PostedMessage): LegacySession | undefined {
    const name = req.headers['mcp-session-id']
    const session = typeof name === 'string' ? this.#sessions.get(name) : undefined
    const version = req.headers['mcp-protocol-version']
    const isSpoken = typeof version !== 'string' || sessionVersions().includes(version)
    if (session !== undefined && isSpoken) {
      session.attendance?.track(res, { isStanding: req.method === 'GET' })
      return session
    }
    const id = posted && postedId(posted)
    if (name === undefined) sendHttpError(res, NO_SESSION, id)
    else if (session === undefined) sendHttpError(res, NOT_FOUND, id)
    else sendHttpError(res, unsupported(String(version)), id)
    return undefined
  }
}

function holdsInitialize(message: Message): boolean {
  if (message.kind === 'batch') return message.items.some(holdsInitialize)
  return message.kind === 'request' && message.method === 'initialize'
}

function isToBeAnswered(message: Message): boolean {
  if (message.kind === 'batch') return message.items.some(isToBeAnswered)
  return message.kind === 'request' || message.kind === 'invalid'
}

// In the words of the SDKs' servers, which clients know.
const NOT_ACCEPTABLE: HttpErrorResponse = {
  status: 406,
  code: -32000,
  message: 'Not Acceptable: Client must accept both application/json and text/event-stream',
}
const NO_STREAM: HttpErrorResponse = {
  status: 406,
  code: -32000,
  message: 'Not Acceptable: Client must accept text/event-stream',
}
const NO_SESSION: HttpErrorResponse = {
  status: 400,
  code: -32000,
  message: 'Bad Request: Mcp-Session-Id header is required',
}
const NOT_FOUND: HttpErrorResponse = { status: 404, code: -32001, message: 'Session not found' }
const TAKEN: HttpErrorResponse = {
  status: 409,
  code: -32000,
  message: 'Conflict: Only one reader is allowed per stream',
}
const UNKNOWN_EVENT: HttpErrorResponse = {
  status: 400,
  code: -32000,
  message: 'Bad Request: the event in Last-Event-ID is not known, or was forgotten',
}
const ALREADY: HttpErrorResponse = invalid('Invalid Request: Server already initialized')
const NOT_IN_BATCH: HttpErrorResponse = invalid('Invalid Request: Only one initialization request is allowed')

function invalid(message: string): HttpErrorResponse {
  return { status: 400, code: -32600, message }
}

function unsupported(version: string): HttpErrorResponse {
  const supported = sessionVersions().join(', ')
  return {
    status: 400,
    code: -32000,
    message: `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`,
  }
}
