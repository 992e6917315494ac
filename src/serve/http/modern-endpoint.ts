import type { ServedRequest, ServedResponse } from '../../http/server/served-exchange.ts'
import type { TurnStore } from '../../tape/turns.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { paramHeadersIn, type ParamHeader } from '../../protocol/headers.ts'
import { member, type Message } from '../../protocol/message.ts'
import { revisionOfPost, statelessVersions } from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { META_KEYS, metaValue } from '../../protocol/methods.ts'
import type { ClientSessions } from './served-recording.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import type { SessionPlayer } from '../player/session-player.ts'
import type { SessionFilter } from '../player/turn-filters.ts'
import { sseEventText, SseWriter } from './sse-writer.ts'
import { recordedTools } from '../player/tool-schemas.ts'
import { PostExchange, type ReplyStream, type ExchangeContext } from './post-exchange.ts'
import { acceptedTypes, postedId, type PostedMessage, sendHttpError } from './posted-message.ts'
import type { RecordedHeads } from './recorded-http.ts'

/** Streamable HTTP of 2026-07-28: no sessions, each POST stands for itself, and to close it is to cancel. */
export class ModernEndpoint {
  readonly #connections: ClientSessions
  readonly #context: ExchangeContext
  readonly #paramHeadersOf: (tool: string) => readonly ParamHeader[]
  readonly #clients = new Map<string, SessionPlayer>()
  /** What each asked for on the tape. */
  readonly #sessionFilters = new Map<string, SessionFilter>()
  readonly #open = new Set<PostExchange>()
  #exchanges = 0

  constructor(connections: ClientSessions, heads: RecordedHeads, turns: TurnStore) {
    this.#connections = connections
    // Nothing leads to a client but the streams that it has open.
    this.#context = {
      heads,
      headers: {},
      openStream: openEventStream,
      onLate: () => {},
    }
    this.#paramHeadersOf = recordedParamHeaders(turns)
  }

  post(posted: PostedMessage): void {
    const { req, res, text, message } = posted
    const revision = revisionOfPost(message, req.headers)
    const refusal = revision.checkPost(message, req.headers, {
      supported: statelessVersions(),
      paramHeadersOf: this.#paramHeadersOf,
    })
    if (refusal !== undefined) return sendHttpError(res, refusal, postedId(posted))
    if (message.kind === 'request') return this.#answer(posted, revision)
    this.#playerOf(posted).handle(text, message, NO_REPLY_CHANNEL)
    res.writeHead(202).end()
  }

  close(): void {
    for (const exchange of this.#open) exchange.end()
  }

  #answer(posted: PostedMessage, revision: Revision): void {
    const { req, res, text, message } = posted
    const accepts = acceptedTypes(req)
    if (!accepts.json && !accepts.stream) return sendHttpError(res, NOT_ACCEPTABLE, postedId(posted))
    const player = this.#playerOf(posted)
    // Ids are unique only within an exchange.
    const scope = `${++this.#exchanges} `
    const exchange = new PostExchange({ res, site: this.#context, revision, scope, accepts })
    player.handle(text, message, exchange)
    // Most are answered by now.
    if (exchange.isOver) return
    this.#open.add(exchange)
    res.on('close', () => {
      this.#open.delete(exchange)
      if (message.kind === 'request') player.abandon(message.id, exchange)
    })
  }

  /** Nothing ties two requests together but what the client says of itself: by that, and by a name in the URL, it has cursors. */
  #playerOf({ req, message }: PostedMessage): SessionPlayer {
    const client = clientInfoKey(message)
    const name = `${clientNameIn(req)} ${client}`
    const known = this.#clients.get(name)
    if (known !== undefined) return known
    const isOwn: SessionFilter =
      this.#sessionFilters.get(client) ?? (({ trigger }) => clientInfoKey(trigger?.message) === client)
    this.#sessionFilters.set(client, isOwn)
    const player = this.#connections.open(isOwn, () => {})
    this.#clients.set(name, player)
    return player
  }
}

/** The headers that repeat arguments of a tool, by the recorded results of `tools/list`. */
function recordedParamHeaders(turns: TurnStore): (tool: string) => readonly ParamHeader[] {
  const byTool = new Map<string, readonly ParamHeader[]>()
  for (const tool of recordedTools(turns))
    byTool.set(String(member(tool, 'name')), paramHeadersIn(member(tool, 'inputSchema')))
  return (tool) => byTool.get(tool) ?? []
}

function clientInfoKey(message: Message | undefined): string {
  const params = message !== undefined && 'params' in message ? message.params : undefined
  return canonicalJson(metaValue(params, META_KEYS.clientInfo) ?? null)
}

const NO_REPLY_CHANNEL: ReplyChannel = { scope: 'aside ', send: () => {}, reply: () => {} }

const NOT_ACCEPTABLE = {
  status: 406,
  code: -32000,
  message: 'Not Acceptable: Client must accept application/json or text/event-stream',
}

function openEventStream(res: ServedResponse): ReplyStream {
  const writer = new SseWriter(res)
  return { send: (text) => writer.write(sseEventText(text)), end: () => writer.end() }
}

/** `?client=<name>` tells apart clients that say the same of themselves. */
function clientNameIn({ url = '' }: ServedRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : (new URLSearchParams(url.slice(at)).get('client') ?? '')
}
