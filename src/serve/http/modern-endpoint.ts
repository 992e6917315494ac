import type { ServedRequest, ServedResponse } from '../../http/server/http-server.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { paramHeadersIn, type ParamHeader } from '../../protocol/headers.ts'
import { type Message, META_KEYS, metaValue } from '../../protocol/message.ts'
import { revisionOfPost, statelessVersions } from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import type { ServedPlayer } from '../player/translated-player.ts'
import { recordedInputSchemas } from '../playable-tape.ts'
import type { SessionFilter } from '../player/turn-filters.ts'
import {
  acceptedTypes,
  postedId,
  PostExchange,
  sendHttpError,
  type ExchangeContext,
  type PostedMessage,
  type ReplyStream,
} from './post-exchange.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import { SessionTable } from './session-table.ts'
import { sseEventText, SseWriter } from './sse-writer.ts'

/** Streamable HTTP of 2026-07-28: there are no sessions, and closing a POST cancels its request. */
export class ModernEndpoint {
  readonly #sessions: ClientSessions
  readonly #context: ExchangeContext
  readonly #paramHeadersOf: (tool: string) => readonly ParamHeader[]
  readonly #clients: SessionTable<ModernClient>
  readonly #filtersByClientInfo = new Map<string, SessionFilter>()
  readonly #open = new Set<PostExchange>()
  #exchangeCount = 0

  constructor(sessions: ClientSessions, { heads, modernTurns, limits }: ServedRecording) {
    this.#sessions = sessions
    this.#clients = new SessionTable(limits)
    // Late messages are dropped: a client can be reached only by the streams that it has open.
    this.#context = { heads, headers: {}, openStream: openEventStream, onLate: () => {} }
    const headersByTool = new Map<string, readonly ParamHeader[]>()
    for (const [tool, schema] of recordedInputSchemas(modernTurns))
      headersByTool.set(tool, paramHeadersIn(schema))
    this.#paramHeadersOf = (tool) => headersByTool.get(tool) ?? []
  }

  post(posted: PostedMessage): void {
    const { req, res, text, message } = posted
    const revision = revisionOfPost(message, req.headers)
    const refusal = revision.checkPost(message, req.headers, {
      supported: statelessVersions(),
      paramHeadersOf: this.#paramHeadersOf,
    })
    if (refusal !== undefined) return sendHttpError(res, refusal, postedId(posted))
    if (message.kind === 'request') return this.#handleRequest(posted, revision)
    this.#clientOf(posted).player.handle(text, message, NO_REPLY_CHANNEL)
    res.writeHead(202).end()
  }

  close(): void {
    for (const exchange of this.#open) exchange.end()
    this.#clients.close()
  }

  #handleRequest(posted: PostedMessage, revision: Revision): void {
    const { req, res, text, message } = posted
    const accepts = acceptedTypes(req)
    if (!accepts.json && !accepts.stream) return sendHttpError(res, NOT_ACCEPTABLE, postedId(posted))
    const client = this.#clientOf(posted)
    const { player } = client
    // Request ids are unique only within an exchange.
    const scope = `${++this.#exchangeCount} `
    const exchange = new PostExchange({ res, context: this.#context, revision, scope, accepts })
    player.handle(text, message, exchange)
    if (exchange.isOver) return // as most exchanges are
    this.#open.add(exchange)
    client.openExchanges++
    res.on('close', () => {
      this.#open.delete(exchange)
      client.openExchanges--
      if (message.kind === 'request') player.cancel(message.id, exchange)
    })
  }

  /** Only `clientInfo` and a name in the URL connect the requests of one client, so each pair of them has its own player. */
  #clientOf({ req, message }: PostedMessage): ModernClient {
    const info = clientInfoKey(message)
    const key = `${clientNameIn(req)} ${info}`
    const known = this.#clients.use(key)
    if (known !== undefined) return known
    const isOwn: SessionFilter =
      this.#filtersByClientInfo.get(info) ?? (({ trigger }) => clientInfoKey(trigger?.message) === info)
    this.#filtersByClientInfo.set(info, isOwn)
    const player = this.#sessions.open(isOwn, () => {})
    const client = new ModernClient(player, () => {
      this.#filtersByClientInfo.delete(info)
      this.#sessions.closeSession(player)
    })
    this.#clients.add(key, client)
    return client
  }
}

/** What is kept for one client. If it is forgotten, the client starts again with an unused tape. */
class ModernClient {
  readonly player: ServedPlayer
  readonly end: () => void
  openExchanges = 0

  constructor(player: ServedPlayer, end: () => void) {
    this.player = player
    this.end = end
  }

  get isBusy(): boolean {
    return this.openExchanges > 0
  }
}

function clientInfoKey(message: Message | undefined): string {
  const params = message !== undefined && 'params' in message ? message.params : undefined
  return canonicalJson(metaValue(params, META_KEYS.clientInfo) ?? null)
}

/** `?client=<name>` distinguishes clients with the same `clientInfo`. */
function clientNameIn({ url = '' }: ServedRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : (new URLSearchParams(url.slice(at)).get('client') ?? '')
}

/** For messages that get no response of a player. */
export const NO_REPLY_CHANNEL: ReplyChannel = { scope: 'none ', send: () => {}, reply: () => {} }

const NOT_ACCEPTABLE = {
  status: 406,
  code: -32000,
  message: 'Not Acceptable: Client must accept application/json or text/event-stream',
}

function openEventStream(res: ServedResponse): ReplyStream {
  const writer = new SseWriter(res)
  return { send: (text) => writer.write(sseEventText(text)), end: () => writer.end() }
}
