import type { ServedResponse } from '../../http/server/served-exchange.ts'
import { idKey, isId } from '../../protocol/id.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { newestSessionRevision } from '../../protocol/revisions/index.ts'
import { member, type Message } from '../../protocol/message.ts'
import { EventLog, LegacyStream } from './legacy-stream.ts'
import { PostExchange, type AcceptedTypes, type ReplyStream, type ExchangeContext } from './post-exchange.ts'
import type { PostedMessage } from './posted-message.ts'
import type { RecordedHeads } from './recorded-http.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import type { SessionPlayer } from '../player/session-player.ts'

/** One session of the eras that have them: a client with an id of ours, and the streams that lead to it. */
export class LegacySession {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  /** Who watches whether the client is still there, when something is kept for it. */
  attendance: ClientPresence | undefined
  readonly #connections: ClientSessions
  readonly #heads: RecordedHeads
  readonly #context: ExchangeContext
  readonly #player: SessionPlayer
  readonly #log = new EventLog<LegacyStream>()
  readonly #standing: LegacyStream
  /** The way out for what no request set off. */
  readonly #sideChannel: ReplyChannel
  readonly #exchanges = new Map<string, PostExchange>()
  /** The revision that `initialize` agreed on. */
  #revision: Revision | undefined

  constructor(connections: ClientSessions, { heads, newId }: Pick<ServedRecording, 'heads' | 'newId'>) {
    this.id = newId()
    this.headers = { 'Mcp-Session-Id': this.id }
    this.#connections = connections
    this.#heads = heads
    this.#standing = new LegacyStream(this.#log, heads.retry)
    this.#context = {
      heads,
      headers: this.headers,
      openStream: (res) => this.#openStream(res),
      onLate: this.#standing.send,
    }
    this.#sideChannel = { scope: '', send: this.#standing.send, reply: () => {} }
    this.#player = connections.openNextSession(this.#standing.send)
    this.#player.start()
  }

  /** Takes a message without a request in it. */
  handleMessage({ text, message }: PostedMessage): void {
    this.#player.handle(text, message, this.#sideChannel)
    this.#endCancelled(message)
  }

  /** Takes what is to be answered. `onAnswer` sees the answer before it leaves. */
  handleRequest(posted: PostedMessage, onAnswer?: ReplyChannel['reply']): void {
    if (!this.#standing.hasReader) return this.#handleNow(posted, onAnswer)
    void this.#standing.drained().then(() => this.#handleNow(posted, onAnswer))
  }

  #handleNow({ res, text, message }: PostedMessage, onAnswer: ReplyChannel['reply'] | undefined): void {
    if (res.destroyed) return
    const exchange = new PostExchange({
      res,
      site: this.#context,
      revision: this.#revision ?? newestSessionRevision(),
      scope: '',
      accepts: ANY_TYPE,
    })
    this.#player.handle(
      text,
      message,
      onAnswer === undefined ? exchange : observedChannel(onAnswer, exchange),
    )
    // Most are answered by now.
    if (exchange.isOver) return
    const key = message.kind === 'request' ? idKey(message.id) : ''
    this.#exchanges.set(key, exchange)
    res.on('close', () => this.#forget(key, exchange))
  }

  /** Client and server have agreed on a revision. */
  setRevision(revision: Revision): void {
    this.#revision = revision
  }

  /** The stream for what belongs to no request; false when another reader has it. */
  openStandingStream(res: ServedResponse): boolean {
    if (this.#standing.hasReader) return false
    this.#standing.attachReader(res, this.headers)
    if (this.#revision?.primesStreams === true) this.#standing.prime()
    return true
  }

  /** The rest of a stream that the client lost; says why not when it cannot be had. */
  resume(res: ServedResponse, lastEventId: string): 'resumed' | 'unknown' | 'taken' {
    const last = this.#log.find(lastEventId)
    if (last === undefined) return 'unknown'
    if (last.stream.hasReader) return 'taken'
    last.stream.attachReader(res, this.headers, last)
    return 'resumed'
  }

  end(): void {
    for (const exchange of this.#exchanges.values()) exchange.end()
    this.#standing.end()
    this.#connections.closeSession(this.#player)
  }

  // Without an id to go on from, nobody can come back.
  #openStream(res: ServedResponse): ReplyStream {
    const stream = new LegacyStream(this.#log, this.#heads.retry)
    stream.attachReader(res, this.headers)
    if (this.#revision?.primesStreams !== true) return { send: stream.send, end: stream.end }
    stream.prime()
    return stream
  }

  #endCancelled(message: Message): void {
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return
    const id = member(message.params, 'requestId')
    if (isId(id)) this.#exchanges.get(idKey(id))?.cancel()
  }

  #forget(key: string, exchange: PostExchange): void {
    if (this.#exchanges.get(key) === exchange) this.#exchanges.delete(key)
  }
}

const ANY_TYPE: AcceptedTypes = { json: true, stream: true }

/** The same way out, on which somebody sees the answer before it leaves. */
function observedChannel(
  onAnswer: ReplyChannel['reply'],
  { scope, send, breakOff, reply }: PostExchange,
): ReplyChannel {
  return {
    scope,
    send,
    breakOff,
    reply: (text, source) => {
      onAnswer(text, source)
      reply(text, source)
    },
  }
}

/**
 * Notices that a client is gone for good: it had a standing stream, lets go of it, and neither comes back nor says anything. One
 * that never had such a stream may be silent as long as it likes.
 */
export class ClientPresence {
  readonly #onLeft: () => void
  readonly #patience: number
  #open = 0
  #hadStandingStream = false
  #timer: NodeJS.Timeout | undefined

  constructor(onLeft: () => void, patience: number) {
    this.#onLeft = onLeft
    this.#patience = patience
  }

  /** An exchange of the client, until it is over. */
  track(res: ServedResponse, { isStanding }: { readonly isStanding: boolean }): void {
    this.#hadStandingStream ||= isStanding
    this.#open++
    clearTimeout(this.#timer)
    res.on('close', () => this.#close())
  }

  #close(): void {
    this.#open--
    if (this.#open > 0 || !this.#hadStandingStream) return
    this.#timer = setTimeout(this.#onLeft, this.#patience).unref()
  }
}
