import { discardBody, type ServedHandler } from '../../http/server/http-server.ts'
import { member } from '../../json/parse.ts'
import type { Message } from '../../protocol/message.ts'
import { isHandshakeMethod, revisionOfPost, statelessVersions } from '../../protocol/revisions/index.ts'
import { invalidPost, sessionRefusal } from '../../protocol/revisions/stateless-revision.ts'
import { MessageParser } from '../player/message-parser.ts'
import { LegacyEndpoint } from './legacy-endpoint.ts'
import { ModernEndpoint, NO_REPLY_CHANNEL } from './modern-endpoint.ts'
import {
  methodNotAllowed,
  postedId,
  readPostedMessage,
  sendHttpError,
  type HttpErrorResponse,
  type PostedMessage,
} from './post-exchange.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'

/** Streamable HTTP on one path, in the eras that the recorded server spoke. */
export class StreamableEndpoint {
  readonly #legacy: LegacyEndpoint | undefined
  readonly #modern: ModernEndpoint | undefined
  readonly #main: ClientSessions
  readonly #parser = new MessageParser()

  constructor(recording: ServedRecording) {
    const { legacy, modern, main } = recording
    this.#main = main
    this.#legacy = legacy && new LegacyEndpoint(legacy, recording)
    this.#modern = modern && new ModernEndpoint(modern, recording)
  }

  readonly handle: ServedHandler = (req, res) => {
    if (req.method === 'POST') return readPostedMessage({ req, res, parser: this.#parser }, this.#post)
    discardBody(req)
    if (this.#legacy === undefined) return sendHttpError(res, methodNotAllowed('POST'))
    if (req.method === 'GET') return this.#legacy.get(req, res)
    if (req.method === 'DELETE') return this.#legacy.delete(req, res)
    sendHttpError(res, methodNotAllowed('GET, POST, DELETE'))
  }

  close(): void {
    this.#legacy?.close()
    this.#modern?.close()
  }

  readonly #post = (posted: PostedMessage): void => {
    const { req, res, message } = posted
    if (this.#modern !== undefined && revisionOfPost(message, req.headers).isStateless)
      return this.#modern.post(posted)
    if (this.#legacy !== undefined) return this.#legacy.post(posted)
    if (message.kind === 'notification') return void res.writeHead(202).end()
    this.#noteRefusal(posted)
    sendHttpError(res, sessionUnsupported(message), postedId(posted))
  }

  /** A player that refuses the same message puts a note into the summary. */
  #noteRefusal({ text, message }: PostedMessage): void {
    if (message.kind !== 'request' || !isHandshakeMethod(message.method)) return
    const player = this.#main.open(undefined, () => {})
    player.handle(text, message, NO_REPLY_CHANNEL)
    this.#main.closeSession(player)
  }
}

/** The error of a stateless server for a message of a session. */
function sessionUnsupported(message: Message): HttpErrorResponse {
  if (message.kind !== 'request') return invalidPost(`a ${message.kind}`)
  return { status: 400, ...sessionRefusal(statelessVersions(), member(message.params, 'protocolVersion')) }
}
