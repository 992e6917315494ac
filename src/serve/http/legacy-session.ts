import type { ServedResponse } from '../../http/server/http-server.ts'
import { idKey, isId } from '../../protocol/message.ts'
import { member } from '../../json/parse.ts'
import { newestSessionRevision } from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { withReply, type ReplyChannel, type SendReply } from '../player/reply-channel.ts'
import type { ServedPlayer } from '../player/translated-player.ts'
import {
  PostExchange,
  type AcceptedTypes,
  type ExchangeContext,
  type PostedMessage,
  type ReplyStream,
} from './post-exchange.ts'
import type { RecordedHeads } from './recorded-http.ts'
import type { ClientSessions, ServedRecording } from './served-recording.ts'
import { sseEventText, ssePrimingText, SseWriter } from './sse-writer.ts'

/** One session of a legacy client: its id, its player and its streams. */
export class LegacySession {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  /** Set if the session must end when its client is gone. */
  presence: ClientPresence | undefined
  readonly #clients: ClientSessions
  readonly #heads: RecordedHeads
  readonly #context: ExchangeContext
  readonly #player: ServedPlayer
  readonly #log = new EventLog<LegacyStream>()
  readonly #standing: LegacyStream
  /** Carries messages that belong to no request. */
  readonly #standingChannel: ReplyChannel
  readonly #exchanges = new Map<string, PostExchange>()
  /** The revision that `initialize` agreed on. */
  #revision: Revision | undefined

  constructor(clients: ClientSessions, { heads, newId }: ServedRecording) {
    this.id = newId()
    this.headers = { 'Mcp-Session-Id': this.id }
    this.#clients = clients
    this.#heads = heads
    this.#standing = new LegacyStream(this.#log, heads.retry)
    this.#context = {
      heads,
      headers: this.headers,
      openStream: (res) => this.#openStream(res),
      onLate: this.#standing.send,
    }
    this.#standingChannel = { scope: '', send: this.#standing.send, reply: () => {} }
    this.#player = clients.openNextSession(this.#standing.send)
    this.#player.start()
  }

  /** Handles a message that needs no response. */
  handleMessage({ text, message }: PostedMessage): void {
    this.#player.handle(text, message, this.#standingChannel)
    if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      this.#cancelExchange(member(message.params, 'requestId'))
  }

  /** Handles a message that needs a response. `onReply` gets the response before it is sent. */
  handleRequest(posted: PostedMessage, onReply?: SendReply): void {
    if (!this.#standing.hasReader) return this.#handleNow(posted, onReply)
    void this.#standing.drained().then(() => this.#handleNow(posted, onReply))
  }

  #handleNow({ res, text, message }: PostedMessage, onReply: SendReply | undefined): void {
    if (res.destroyed) return
    const exchange = new PostExchange({
      res,
      context: this.#context,
      revision: this.#revision ?? newestSessionRevision(),
      scope: '',
      accepts: ANY_TYPE,
    })
    this.#player.handle(text, message, onReply === undefined ? exchange : observedChannel(exchange, onReply))
    if (exchange.isOver) return // as most exchanges are
    const key = message.kind === 'request' ? idKey(message.id) : ''
    this.#exchanges.set(key, exchange)
    res.on('close', () => {
      if (this.#exchanges.get(key) === exchange) this.#exchanges.delete(key)
    })
  }

  /** Sets the revision that client and server agreed on. */
  setRevision(revision: Revision): void {
    this.#revision = revision
  }

  /** Opens the stream for messages that belong to no request. It can have only one reader. */
  openStandingStream(res: ServedResponse): 'taken' | undefined {
    if (this.#standing.hasReader) return 'taken'
    this.#standing.attachReader(res, this.headers)
    if (this.#revision?.primesStreams === true) this.#standing.prime()
    return undefined
  }

  /** Sends the rest of a stream that the client lost. */
  resume(res: ServedResponse, lastEventId: string): 'unknown' | 'taken' | undefined {
    const last = this.#log.find(lastEventId)
    if (last === undefined) return 'unknown'
    if (last.stream.hasReader) return 'taken'
    last.stream.attachReader(res, this.headers, last)
    return undefined
  }

  get isBusy(): boolean {
    return this.#exchanges.size > 0 || this.#standing.hasReader
  }

  end(): void {
    for (const exchange of this.#exchanges.values()) exchange.end()
    this.#standing.end()
    this.#clients.closeSession(this.#player)
  }

  #openStream(res: ServedResponse): ReplyStream {
    const stream = new LegacyStream(this.#log, this.#heads.retry)
    stream.attachReader(res, this.headers)
    // A client that has no event id cannot resume the stream.
    if (this.#revision?.primesStreams !== true) return { send: stream.send, end: stream.end }
    stream.prime()
    return stream
  }

  #cancelExchange(id: unknown): void {
    if (isId(id)) this.#exchanges.get(idKey(id))?.cancel()
  }
}

const ANY_TYPE: AcceptedTypes = { json: true, stream: true }

function observedChannel(exchange: PostExchange, onReply: SendReply): ReplyChannel {
  return withReply(exchange, (text, source) => {
    onReply(text, source)
    exchange.reply(text, source)
  })
}

/** One stream of a legacy session. It outlives its reader, so that a client can resume it. */
class LegacyStream {
  readonly #log: EventLog<LegacyStream>
  readonly #retry: number | undefined
  readonly #unread: LoggedEvent<LegacyStream>[] = []
  #reader: SseWriter | undefined
  #isOver = false

  /** `retry` is the time that a client should wait before it resumes, in milliseconds. */
  constructor(log: EventLog<LegacyStream>, retry: number | undefined) {
    this.#log = log
    this.#retry = retry
  }

  get hasReader(): boolean {
    return this.#reader !== undefined
  }

  readonly send = (text: string): void => {
    const event = this.#log.add(this, text)
    if (this.#reader === undefined) this.#keepUnread(event)
    else this.#reader.write(this.#eventText(event))
  }

  /** Gives the client an event id before the first message (2025-11-25). */
  prime(): void {
    this.#reader?.write(this.#eventText(this.#log.add(this)))
  }

  /** Ends the current reader, which should come back for the rest. */
  breakOff(): void {
    this.#reader?.end()
    this.#reader = undefined
  }

  readonly end = (): void => {
    this.#isOver = true
    this.#reader?.end()
  }

  /** Sends a reader the unread events, or those after its last event, and then every new one. */
  attachReader(
    res: ServedResponse,
    headers: Readonly<Record<string, string>>,
    last?: LoggedEvent<LegacyStream>,
  ): void {
    const reader = new SseWriter(res, headers)
    const events = last === undefined ? this.#unread : this.#log.after(last)
    for (const event of events) reader.write(this.#eventText(event))
    this.#unread.length = 0
    if (this.#isOver) return reader.end()
    this.#reader = reader
    res.on('close', () => {
      if (this.#reader === reader) this.#reader = undefined
    })
  }

  /** Resolves when the reader has taken everything that was written. */
  async drained(): Promise<void> {
    await this.#reader?.drained()
  }

  #eventText({ id, text }: LoggedEvent<LegacyStream>): string {
    return text === undefined ? ssePrimingText(id, this.#retry) : sseEventText(text, { id })
  }

  /** Events that the log has dropped are dropped here too. */
  #keepUnread(event: LoggedEvent<LegacyStream>): void {
    this.#unread.push(event)
    while (this.#unread.length > 0 && this.#log.find(this.#unread[0]?.id ?? '') === undefined)
      this.#unread.shift()
  }
}

interface LoggedEvent<Stream> {
  readonly id: string
  readonly stream: Stream
  /** The message; `undefined` for an event that only has an id. */
  readonly text: string | undefined
}

const MAX_EVENTS = 1024
const MAX_CHARACTERS = 16 * 1024 * 1024

/** The latest events of a session, from which a client can resume a stream. Old events are dropped. */
export class EventLog<Stream> {
  readonly #events: LoggedEvent<Stream>[] = []
  #count = 0
  #characters = 0

  add(stream: Stream, text?: string): LoggedEvent<Stream> {
    const event = { id: `e${++this.#count}`, stream, text }
    this.#events.push(event)
    this.#characters += text?.length ?? 0
    while (this.#events.length > MAX_EVENTS || this.#isTooLarge())
      this.#characters -= this.#events.shift()?.text?.length ?? 0
    return event
  }

  find(id: string): LoggedEvent<Stream> | undefined {
    return this.#events.find((event) => event.id === id)
  }

  /** Returns the later events of the same stream. */
  after(last: LoggedEvent<Stream>): readonly LoggedEvent<Stream>[] {
    return this.#events.slice(this.#events.indexOf(last) + 1).filter(({ stream }) => stream === last.stream)
  }

  /** The latest event is kept, however large it is. */
  #isTooLarge(): boolean {
    return this.#characters > MAX_CHARACTERS && this.#events.length > 1
  }
}

/**
 * Detects that a client is gone: its standing stream has closed, and it sends nothing for a while. A client that never had a
 * standing stream may be silent for any time.
 */
export class ClientPresence {
  readonly #onGone: () => void
  readonly #timeoutMs: number
  #open = 0
  #hadStandingStream = false
  #timer: NodeJS.Timeout | undefined

  constructor(onGone: () => void, timeoutMs: number) {
    this.#onGone = onGone
    this.#timeoutMs = timeoutMs
  }

  /** Follows an exchange of the client until it is over. */
  track(res: ServedResponse, { isStanding }: { readonly isStanding: boolean }): void {
    this.#hadStandingStream ||= isStanding
    this.#open++
    clearTimeout(this.#timer)
    res.on('close', () => this.#exchangeClosed())
  }

  #exchangeClosed(): void {
    this.#open--
    if (this.#open > 0 || !this.#hadStandingStream) return
    this.#timer = setTimeout(this.#onGone, this.#timeoutMs).unref()
  }
}
