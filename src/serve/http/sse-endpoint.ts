import {
  discardBody,
  type ServedHandler,
  type ServedRequest,
  type ServedResponse,
} from '../../http/server/http-server.ts'
import { INVALID_REQUEST } from '../../protocol/message.ts'
import { MessageParser } from '../player/message-parser.ts'
import { singleReplyChannel, type ReplyChannel } from '../player/reply-channel.ts'
import type { ServedPlayer } from '../player/translated-player.ts'
import { methodNotAllowed, readPostedMessage, sendHttpError, type PostedMessage } from './post-exchange.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import { SessionTable } from './session-table.ts'
import { sseEventText, SseWriter } from './sse-writer.ts'

interface SseClient {
  /** The session lasts as long as its stream. */
  readonly isBusy: true
  readonly end: () => void
  readonly player: ServedPlayer
  readonly writer: SseWriter
  readonly channel: ReplyChannel
}

/** The HTTP+SSE transport of 2024-11-05: one stream carries everything, and its first event names the path for POSTs. */
export class SseEndpoint {
  readonly #sessions: ClientSessions
  readonly #newId: () => string
  readonly #messagesPath: string
  readonly #parser = new MessageParser()
  readonly #clients: SessionTable<SseClient>

  constructor({ main, newId, limits }: ServedRecording, messagesPath: string) {
    this.#sessions = main
    this.#clients = new SessionTable(limits)
    this.#newId = newId
    this.#messagesPath = messagesPath
  }

  readonly handleStream: ServedHandler = (req, res) => {
    discardBody(req)
    if (req.method === 'GET') this.#open(res)
    else sendHttpError(res, methodNotAllowed('GET'))
  }

  readonly handleMessages: ServedHandler = (req, res) => {
    if (req.method === 'POST')
      return readPostedMessage({ req, res, parser: this.#parser }, (posted) => void this.#post(posted))
    discardBody(req)
    sendHttpError(res, methodNotAllowed('POST'))
  }

  close(): void {
    this.#clients.close()
  }

  #open(res: ServedResponse): void {
    const id = this.#newId()
    const writer = new SseWriter(res)
    const send = (text: string): void => writer.write(sseEventText(text))
    const player = this.#sessions.openNextSession(send)
    const channel = { ...singleReplyChannel(send), breakOff: () => writer.end() }
    const end = (): void => {
      writer.end()
      this.#sessions.closeSession(player)
    }
    this.#clients.add(id, { player, writer, channel, isBusy: true, end })
    res.on('close', () => this.#clients.end(id))
    writer.write(sseEventText(`${this.#messagesPath}?sessionId=${id}`, { event: 'endpoint' }))
    player.start()
  }

  async #post({ req, res, text, message }: PostedMessage): Promise<void> {
    const client = this.#clients.use(sessionIdOf(req))
    if (client === undefined) return sendHttpError(res, NOT_FOUND)
    if (message.kind === 'invalid')
      return sendHttpError(res, { status: 400, code: INVALID_REQUEST, message: message.why })
    // A client that does not read its stream has to wait, so that nothing piles up in memory.
    await client.writer.drained()
    res.writeHead(202, { 'Content-Type': 'text/plain' }).end('Accepted')
    client.player.handle(text, message, client.channel)
  }
}

function sessionIdOf({ url }: ServedRequest): string {
  return new URLSearchParams(url?.split('?')[1]).get('sessionId') ?? ''
}

const NOT_FOUND = { status: 404, code: -32001, message: 'Session not found' }
