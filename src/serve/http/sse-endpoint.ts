import { discardBody, type ServedRequest, type ServedResponse } from '../../http/server/served-exchange.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import { singleReplyChannel, type ReplyChannel } from '../player/reply-channel.ts'
import type { SessionPlayer } from '../player/session-player.ts'
import { sseEventText, SseWriter } from './sse-writer.ts'
import { type PostedMessage, sendHttpError } from './posted-message.ts'

interface SseClient {
  readonly player: SessionPlayer
  readonly writer: SseWriter
  readonly outlet: ReplyChannel
}

/** The transport of 2024-11-05: one stream carries everything, and its first event says where to post. */
export class SseEndpoint {
  readonly #connections: ClientSessions
  readonly #newId: () => string
  readonly #messages: string
  readonly #clients = new Map<string, SseClient>()

  /** `messages` is the path to post to. */
  constructor({ main, newId }: Pick<ServedRecording, 'main' | 'newId'>, messages: string) {
    this.#connections = main
    this.#newId = newId
    this.#messages = messages
  }

  open(req: ServedRequest, res: ServedResponse): void {
    const id = this.#newId()
    const writer = new SseWriter(res)
    const send = (text: string): void => writer.write(sseEventText(text))
    const player = this.#connections.openNextSession(send)
    const outlet = { ...singleReplyChannel(send), breakOff: () => writer.end() }
    this.#clients.set(id, { player, writer, outlet })
    res.on('close', () => this.#end(id))
    writer.write(sseEventText(`${this.#messages}?sessionId=${id}`, { event: 'endpoint' }))
    player.start()
    discardBody(req)
  }

  /** A client that does not read its stream is not listened to. */
  async post({ req, res, text, message }: PostedMessage): Promise<void> {
    const id = new URLSearchParams(req.url?.split('?')[1]).get('sessionId') ?? ''
    const client = this.#clients.get(id)
    if (client === undefined) return sendHttpError(res, NOT_FOUND)
    if (message.kind === 'invalid')
      return sendHttpError(res, { status: 400, code: -32600, message: message.why })
    await client.writer.drained()
    res.writeHead(202, { 'Content-Type': 'text/plain' }).end('Accepted')
    client.player.handle(text, message, client.outlet)
  }

  close(): void {
    for (const { writer } of this.#clients.values()) writer.end()
  }

  #end(id: string): void {
    const client = this.#clients.get(id)
    this.#clients.delete(id)
    if (client !== undefined) this.#connections.closeSession(client.player)
  }
}

const NOT_FOUND = { status: 404, code: -32001, message: 'Session not found' }
