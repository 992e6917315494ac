import { discardBody, type ServedRequest, type ServedResponse } from '../../http/server/served-exchange.ts'
import { member, type Message } from '../../protocol/message.ts'
import { MODERN_VERSION } from '../../protocol/methods.ts'
import { MessageParser } from '../player/message-parser.ts'
import { LegacyEndpoint } from './legacy-endpoint.ts'
import { isModernMessage } from './modern-checks.ts'
import { ModernEndpoint } from './modern-endpoint.ts'
import {
  postedId,
  readPostedMessage,
  type PostedMessage,
  methodNotAllowed,
  sendHttpError,
  type HttpErrorResponse,
} from './posted-message.ts'
import type { ServedRecording } from './served-recording.ts'

/** Streamable HTTP on one path, in the eras that the recorded server spoke. */
export class StreamableEndpoint {
  readonly #legacy: LegacyEndpoint | undefined
  readonly #modern: ModernEndpoint | undefined
  readonly #heard = new MessageParser()

  constructor({ legacy, modern, heads, newId, modernTurns }: ServedRecording) {
    this.#legacy = legacy && new LegacyEndpoint(legacy, { heads, newId })
    this.#modern = modern && new ModernEndpoint(modern, heads, modernTurns)
  }

  handle(req: ServedRequest, res: ServedResponse): void {
    if (req.method === 'POST') return readPostedMessage({ req, res, heard: this.#heard }, this.#post)
    discardBody(req)
    if (this.#legacy === undefined) return sendHttpError(res, methodNotAllowed('POST'))
    if (req.method === 'GET') return this.#legacy.get(req, res)
    if (req.method === 'DELETE') return this.#legacy.delete(req, res)
    this.#legacy.rejectMethod(res)
  }

  close(): void {
    this.#legacy?.close()
    this.#modern?.close()
  }

  readonly #post = (posted: PostedMessage): void => {
    const { req, res, message } = posted
    if (this.#modern !== undefined && isModernMessage(message, req.headers)) return this.#modern.post(posted)
    if (this.#legacy !== undefined) return this.#legacy.post(posted)
    if (message.kind === 'notification') return void res.writeHead(202).end()
    sendHttpError(res, modernOnly(message), postedId(posted))
  }
}

/** What a server that speaks no other era says to a legacy message. */
function modernOnly(message: Message): HttpErrorResponse {
  if (message.kind !== 'request')
    return { status: 400, code: -32600, message: `Bad Request: a ${message.kind} cannot be posted here` }
  const requested = member(message.params, 'protocolVersion')
  return {
    status: 400,
    code: -32022,
    message: 'Unsupported protocol version',
    data: { supported: [MODERN_VERSION], ...(requested === undefined ? {} : { requested }) },
  }
}
