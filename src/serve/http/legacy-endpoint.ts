import type { ServedRequest, ServedResponse } from '../../http/server/http-server.ts'
import { parseJson, member } from '../../json/parse.ts'
import { type Message, INVALID_REQUEST } from '../../protocol/message.ts'
import { sessionRevisionOf, sessionVersions } from '../../protocol/revisions/index.ts'
import { ClientPresence, LegacySession } from './legacy-session.ts'
import {
  acceptedTypes,
  postedId,
  sendHttpError,
  type HttpErrorResponse,
  type PostedMessage,
} from './post-exchange.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import { SessionTable } from './session-table.ts'

/** Streamable HTTP from 2025-03-26 to 2025-11-25: sessions, a standing stream, and streams that can be resumed. */
export class LegacyEndpoint {
  readonly #clients: ClientSessions
  readonly #recording: ServedRecording
  readonly #sessions: SessionTable<LegacySession>

  constructor(clients: ClientSessions, recording: ServedRecording) {
    this.#clients = clients
    this.#recording = recording
    this.#sessions = new SessionTable(recording.limits)
  }

  post(posted: PostedMessage): void {
    const { req, res, message } = posted
    const accepts = acceptedTypes(req)
    if (!accepts.json || !accepts.stream) return sendHttpError(res, NOT_ACCEPTABLE)
    if (message.kind === 'invalid') return sendHttpError(res, invalid(`Invalid Request: ${message.why}`))
    if (containsInitialize(message)) return this.#startSession(posted)
    const session = this.#sessionOf(req, res, posted)
    if (session === undefined) return
    if (needsResponse(message)) return session.handleRequest(posted)
    session.handleMessage(posted)
    res.writeHead(202, session.headers).end()
  }

  get(req: ServedRequest, res: ServedResponse): void {
    if (!acceptedTypes(req).stream) return sendHttpError(res, NO_STREAM)
    const session = this.#sessionOf(req, res)
    if (session === undefined) return
    const lastEventId = req.headers['last-event-id']
    const refusal =
      typeof lastEventId === 'string' ? session.resume(res, lastEventId) : session.openStandingStream(res)
    if (refusal === 'unknown') sendHttpError(res, UNKNOWN_EVENT)
    if (refusal === 'taken') sendHttpError(res, TAKEN)
  }

  delete(req: ServedRequest, res: ServedResponse): void {
    const session = this.#sessionOf(req, res)
    if (session === undefined) return
    this.#sessions.end(session.id)
    res.writeHead(200, { 'Content-Length': 0 }).end()
  }

  close(): void {
    this.#sessions.close()
  }

  #startSession(posted: PostedMessage): void {
    const { req, res, message } = posted
    if (req.headers['mcp-session-id'] !== undefined) return sendHttpError(res, ALREADY_INITIALIZED)
    if (message.kind === 'batch') return sendHttpError(res, INITIALIZE_IN_BATCH)
    const session = new LegacySession(this.#clients, this.#recording)
    const { keepLiveMs } = this.#clients
    if (keepLiveMs !== undefined)
      session.presence = new ClientPresence(() => this.#sessions.end(session.id), keepLiveMs)
    session.handleRequest(posted, (text) => {
      const result = member(text === undefined ? undefined : parseJson(text), 'result')
      if (result === undefined || res.destroyed) return
      this.#sessions.add(session.id, session)
      session.setRevision(sessionRevisionOf(member(result, 'protocolVersion')))
    })
    // A client that got no result, or left before it, has no session.
    res.on('close', () => {
      if (!this.#sessions.has(session.id)) session.end()
    })
  }

  /** Returns the session that a request names. Responds with an error if there is none. */
  #sessionOf(req: ServedRequest, res: ServedResponse, posted?: PostedMessage): LegacySession | undefined {
    const sessionId = req.headers['mcp-session-id']
    const session = typeof sessionId === 'string' ? this.#sessions.use(sessionId) : undefined
    const version = req.headers['mcp-protocol-version']
    const isSupported = typeof version !== 'string' || sessionVersions().includes(version)
    if (session !== undefined && isSupported) {
      session.presence?.track(res, { isStanding: req.method === 'GET' })
      return session
    }
    const id = posted && postedId(posted)
    if (sessionId === undefined) sendHttpError(res, NO_SESSION, id)
    else if (session === undefined) sendHttpError(res, NOT_FOUND, id)
    else sendHttpError(res, unsupportedVersion(String(version)), id)
    return undefined
  }
}

function containsInitialize(message: Message): boolean {
  if (message.kind === 'batch') return message.items.some(containsInitialize)
  return message.kind === 'request' && message.method === 'initialize'
}

function needsResponse(message: Message): boolean {
  if (message.kind === 'batch') return message.items.some(needsResponse)
  return message.kind === 'request' || message.kind === 'invalid'
}

// The texts are those of the SDKs' servers, which clients may know.
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
const ALREADY_INITIALIZED: HttpErrorResponse = invalid('Invalid Request: Server already initialized')
const INITIALIZE_IN_BATCH: HttpErrorResponse = invalid(
  'Invalid Request: Only one initialization request is allowed',
)

function invalid(message: string): HttpErrorResponse {
  return { status: 400, code: INVALID_REQUEST, message }
}

function unsupportedVersion(version: string): HttpErrorResponse {
  const supported = sessionVersions().join(', ')
  return {
    status: 400,
    code: -32000,
    message: `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`,
  }
}
