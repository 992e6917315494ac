import { leave, type ServedRequest, type ServedResponse } from '../../transport/http1/exchange.ts'
import type { Connections } from '../connections.ts'
import { singleOutlet, type Outlet } from '../outlet.ts'
import type { Player } from '../player.ts'
import { eventText, EventWriter } from './event-writer.ts'
import type { Posted } from './posted.ts'
import { refuse } from './refusal.ts'
import type { Role } from './role.ts'

interface SseClient {
  readonly player: Player
  readonly writer: EventWriter
  readonly outlet: Outlet
}

/** The transport of 2024-11-05: one stream carries everything, and its first event says where to post. */
export class SseEndpoint {
  readonly #connections: Connections
  readonly #newId: () => string
  readonly #messages: string
  readonly #clients = new Map<string, SseClient>()

  /** `messages` is the path to post to. */
  constructor({ main, newId }: Pick<Role, 'main' | 'newId'>, messages: string) {
    this.#connections = main
    this.#newId = newId
    this.#messages = messages
  }

  open(req: ServedRequest, res: ServedResponse): void {
    const id = this.#newId()
    const writer = new EventWriter(res)
    const send = (text: string): void => writer.write(eventText(text))
    const player = this.#connections.beginSession(send)
    const outlet = { ...singleOutlet(send), breakOff: () => writer.end() }
    this.#clients.set(id, { player, writer, outlet })
    res.on('close', () => this.#end(id))
    writer.write(eventText(`${this.#messages}?sessionId=${id}`, { event: 'endpoint' }))
    player.start()
    leave(req)
  }

  /** A client that does not read its stream is not listened to. */
  async post({ req, res, text, message }: Posted): Promise<void> {
    const id = new URLSearchParams(req.url?.split('?')[1]).get('sessionId') ?? ''
    const client = this.#clients.get(id)
    if (client === undefined) return refuse(res, NOT_FOUND)
    if (message.kind === 'invalid') return refuse(res, { status: 400, code: -32600, message: message.why })
    await client.writer.caughtUp()
    res.writeHead(202, { 'Content-Type': 'text/plain' }).end('Accepted')
    client.player.take(text, message, client.outlet)
  }

  close(): void {
    for (const { writer } of this.#clients.values()) writer.end()
  }

  #end(id: string): void {
    const client = this.#clients.get(id)
    this.#clients.delete(id)
    if (client !== undefined) this.#connections.end(client.player)
  }
}

const NOT_FOUND = { status: 404, code: -32001, message: 'Session not found' }
