import type { ServedRequest, ServedResponse } from '../../transport/http1/exchange.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import type { Message } from '../../wire/message.ts'
import { META, metaOf } from '../../wire/methods.ts'
import type { Connections } from '../connections.ts'
import type { Outlet } from '../outlet.ts'
import type { Player } from '../player.ts'
import type { RecordedSession } from '../recorded-sessions.ts'
import { eventText, EventWriter } from './event-writer.ts'
import { MirroredParams } from './mirrored-params.ts'
import { modernRefusal } from './modern-checks.ts'
import { PostExchange, type AnswerStream, type ExchangeSite } from './post-exchange.ts'
import { acceptsOf, postedId, type Posted } from './posted.ts'
import type { RecordedHeads } from './recorded-heads.ts'
import { refuse } from './refusal.ts'

/** Streamable HTTP of 2026-07-28: no sessions, each POST stands for itself, and to close it is to cancel. */
export class ModernEndpoint {
  readonly #connections: Connections
  readonly #site: ExchangeSite
  readonly #mirrored: MirroredParams
  readonly #clients = new Map<string, Player>()
  /** What each asked for on the tape. */
  readonly #own = new Map<string, RecordedSession>()
  readonly #open = new Set<PostExchange>()
  #exchanges = 0

  constructor(connections: Connections, heads: RecordedHeads, turns: TurnStore) {
    this.#connections = connections
    // Nothing leads to a client but the streams that it has open.
    this.#site = { era: 'modern', heads, headers: {}, openStream: streamTo, onLate: () => {} }
    this.#mirrored = new MirroredParams(turns)
  }

  post(posted: Posted): void {
    const { req, res, text, message } = posted
    const refusal = modernRefusal(message, req.headers, this.#mirrored)
    if (refusal !== undefined) return refuse(res, refusal, postedId(posted))
    if (message.kind === 'request') return this.#answer(posted)
    this.#playerOf(posted).take(text, message, ASIDE)
    res.writeHead(202).end()
  }

  close(): void {
    for (const exchange of this.#open) exchange.end()
  }

  #answer(posted: Posted): void {
    const { req, res, text, message } = posted
    const accepts = acceptsOf(req)
    if (!accepts.json && !accepts.stream) return refuse(res, NOT_ACCEPTABLE, postedId(posted))
    const player = this.#playerOf(posted)
    // Ids are unique only within an exchange.
    const scope = `${++this.#exchanges} `
    const exchange = new PostExchange({ res, site: this.#site, scope, accepts })
    player.take(text, message, exchange)
    // Most are answered by now.
    if (exchange.isOver) return
    this.#open.add(exchange)
    res.on('close', () => {
      this.#open.delete(exchange)
      if (message.kind === 'request') player.abandon(message.id, exchange)
    })
  }

  /** Nothing ties two requests together but what the client says of itself: by that, and by a name in the URL, it has cursors. */
  #playerOf({ req, message }: Posted): Player {
    const client = clientOf(message)
    const name = `${nameIn(req)} ${client}`
    const known = this.#clients.get(name)
    if (known !== undefined) return known
    const isOwn: RecordedSession =
      this.#own.get(client) ?? (({ trigger }) => clientOf(trigger?.message) === client)
    this.#own.set(client, isOwn)
    const player = this.#connections.begin(isOwn, () => {})
    this.#clients.set(name, player)
    return player
  }
}

function clientOf(message: Message | undefined): string {
  const params = message !== undefined && 'params' in message ? message.params : undefined
  return canonicalJson(metaOf(params, META.clientInfo) ?? null)
}

const ASIDE: Outlet = { scope: 'aside ', send: () => {}, reply: () => {} }

const NOT_ACCEPTABLE = {
  status: 406,
  code: -32000,
  message: 'Not Acceptable: Client must accept application/json or text/event-stream',
}

function streamTo(res: ServedResponse): AnswerStream {
  const writer = new EventWriter(res)
  return { send: (text) => writer.write(eventText(text)), end: () => writer.end() }
}

/** `?client=<name>` tells apart clients that say the same of themselves. */
function nameIn({ url = '' }: ServedRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : (new URLSearchParams(url.slice(at)).get('client') ?? '')
}
