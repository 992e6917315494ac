import { findRange, replaceValue } from '../../json/find-replace.ts'
import { jsonOnOneLine, parseJson, member } from '../../json/parse.ts'
import type { OpenLink, ClientLink } from '../../link/client-link.ts'
import { type AnyTransport, sdkTransportLink } from '../../link/sdk-transport.ts'
import { describeValue } from '../../match/describe-request.ts'
import {
  idKey,
  isId,
  type Id,
  type Direction,
  classifyMessage,
  type Message,
  type Notification,
  type Response,
  META_KEYS,
  INTERNAL_ERROR,
  responseText,
} from '../../protocol/message.ts'
import type { LiveRequest } from '../player/live-messages.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import { createClientRedaction } from '../redaction/client-redaction.ts'
import type { ServeOptions } from '../serve-options.ts'
import {
  UpstreamServerRequests,
  forwardNotification,
  ForwardedRequests,
  type ForwardedRequest,
} from './forwarded-messages.ts'
import { isCi, type UpstreamServer } from './upstream.ts'
import { appendEpisode, hasServerMessages, type EpisodeMessage } from '../../store/file/rewrite.ts'

interface PassthroughServerOptions {
  /** Opens a link to the live server, once for each client. */
  readonly open: OpenLink
  /** True if new messages are added to the tape. */
  readonly learns: boolean
  /** Headers of every request. The server may repeat them, and they must not get onto the tape. */
  readonly headers?: Readonly<Record<string, string>>
  /** Values that the user named as secrets. */
  readonly secrets?: readonly string[] | undefined
}

/** How many messages were added to the tape, and from how many clients. */
interface LearnedCounts {
  readonly messages: number
  readonly clients: number
}

/** The live server behind a tape, for any number of clients. */
export class PassthroughServer {
  readonly #options: PassthroughServerOptions
  /** The messages of each link. They are written after the run, because the tape is being played until then. */
  readonly #links: EpisodeMessage[][] = []

  constructor(options: PassthroughServerOptions) {
    this.#options = options
  }

  /** Returns the upstream server for one more client. */
  connectClient(): Passthrough {
    const { open, learns } = this.#options
    if (!learns) return new Passthrough({ open })
    const messages: EpisodeMessage[] = []
    this.#links.push(messages)
    return new Passthrough({ open, onMessage: (dir, text) => messages.push({ dir, text, at: Date.now() }) })
  }

  /** Adds new messages to the tape, each client as a connection of its own. Call it when all clients are gone. */
  async appendToTape({ path }: { readonly path: string }, server: string): Promise<LearnedCounts> {
    const links = this.#links.splice(0).filter(hasServerMessages)
    const { headers = {}, secrets: values } = this.#options
    if (links.length > 0)
      await appendEpisode(path, {
        server,
        links,
        redaction: (header) => createClientRedaction(header, { headers, values }),
      })
    return { clients: links.length, messages: links.reduce((sum, { length }) => sum + length, 0) }
  }
}

export interface LiveUpstreamOptions {
  /** Creates the transport to the live server that misses are forwarded to. It is called once for each client. */
  readonly live?: () => AnyTransport
  /**
   * `passthrough` forwards misses, `new-episodes` also adds the responses to the tape at `close`, `none` forwards nothing. The
   * default is `passthrough`, and `none` in CI.
   */
  readonly mode?: 'none' | 'passthrough' | 'new-episodes'
}

/** Returns `undefined` if nothing is to be forwarded. */
export function passthroughServerFor({
  live,
  mode,
  secrets,
}: LiveUpstreamOptions & Pick<ServeOptions, 'secrets'>): PassthroughServer | undefined {
  if (live === undefined || (mode ?? (isCi() ? 'none' : 'passthrough')) === 'none') return undefined
  if (isCi()) process.emitWarning(`CI is set, but mode ${mode} connects to the live server anyway`, 'reelay')
  return new PassthroughServer({
    open: (handlers) => sdkTransportLink(live())(handlers),
    learns: mode === 'new-episodes',
    secrets,
  })
}

interface PassthroughOptions {
  /** Opens the link to the live server. It is called for the first request that is forwarded. */
  readonly open: OpenLink
  /** Called for every message on the live link. */
  readonly onMessage?: ((dir: Direction, text: string) => void) | undefined
  /** True if there is no tape. Every message is forwarded, and responses are not marked. */
  readonly isAlone?: boolean
}

/** Forwards the requests of one client that the tape cannot answer to a live server, and its messages back. */
export class Passthrough implements UpstreamServer {
  readonly #options: PassthroughOptions
  readonly #handshake = new UpstreamHandshake()
  readonly #requests = new ForwardedRequests()
  readonly #serverRequests = new UpstreamServerRequests()
  readonly #sent = new WeakSet<ForwardedRequest>()
  #opening: Promise<ClientLink> | undefined
  #server: Promise<ClientLink> | undefined
  #failure: string | undefined
  #wake: () => void = () => {}

  constructor(options: PassthroughOptions) {
    this.#options = options
  }

  get isAlone(): boolean {
    return this.#options.isAlone === true
  }

  observe(text: string, message: Message): boolean {
    if (!this.isAlone) this.#handshake.observe(text, message)
    if (message.kind === 'response') return this.#forwardAnswer(text, message) || this.isAlone
    if (message.kind !== 'notification') return false
    if (message.method === 'notifications/cancelled')
      return this.#forwardCancellation(text, message) || this.isAlone
    if (this.#server !== undefined || this.isAlone) this.#whenConnected((link) => this.#send(link, text))
    return this.isAlone
  }

  forward(live: LiveRequest, channel: ReplyChannel): void {
    const forwarded = this.#requests.add(live, channel)
    if (this.#failure !== undefined) return this.#sendFailure(forwarded, this.#failure)
    this.#whenConnected((link) => {
      if (!this.#requests.has(forwarded)) return // cancelled before the link was open
      this.#sent.add(forwarded)
      this.#send(link, forwarded.text)
    })
  }

  cancel(id: Id, { scope }: ReplyChannel): void {
    const forwarded = this.#requests.byClientId(id, scope)
    if (forwarded !== undefined) this.#cancelRequest(forwarded, cancelText(forwarded.id))
  }

  async close(stop: AbortSignal): Promise<void> {
    if (this.#opening === undefined) return
    stop.addEventListener('abort', () => this.#wake())
    while (this.#requests.hasUnanswered && !stop.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    // A link that failed to open needs no close, and its requests were answered with an error.
    const link = await this.#opening.catch(() => undefined)
    await link?.close()
    this.#fail('it was stopped because the client is gone')
  }

  /** A legacy server gets the `initialize` that the client sent to the recorded one. */
  async #start(): Promise<ClientLink> {
    this.#opening = this.#options.open({
      onText: (text, of) => this.#receive(text, of),
      onLost: (key, why) => this.#failRequest(key, why),
      onEnd: (why) => this.#fail(why),
    })
    const link = await this.#opening
    await this.#handshake.perform((text) => this.#send(link, text))
    return link
  }

  #whenConnected(act: (link: ClientLink) => unknown): void {
    this.#server ??= this.#start()
    this.#server.then(act, (error: unknown) =>
      this.#fail(error instanceof Error ? error.message : String(error)),
    )
  }

  #send(link: ClientLink, text: string): void {
    const line = jsonOnOneLine(text)
    this.#options.onMessage?.('c2s', line)
    link.send(line)
  }

  #forwardAnswer(text: string, { id }: Response): boolean {
    const theirs = this.#serverRequests.take(id)
    if (theirs === undefined) return false
    this.#whenConnected((link) => this.#send(link, replaceValue(text, ['id'], theirs)))
    return true
  }

  #forwardCancellation(text: string, { params }: Notification): boolean {
    const id = member(params, 'requestId')
    const forwarded = isId(id) ? this.#requests.byClientId(id, '') : undefined
    if (forwarded === undefined) return false
    this.#cancelRequest(forwarded, replaceValue(text, ['params', 'requestId'], String(forwarded.id)))
    return true
  }

  /** Closes the stream of the request, if that cancels it; otherwise sends `notifications/cancelled`. */
  #cancelRequest(forwarded: ForwardedRequest, cancellation: string): void {
    this.#requests.close(forwarded)
    forwarded.channel.reply(undefined)
    this.#wake()
    if (!this.#sent.has(forwarded)) return
    this.#whenConnected(
      (link) => link.abort?.(idKey(forwarded.id)) === true || this.#send(link, cancellation),
    )
  }

  #receive(received: string, of: string | undefined): void {
    const text = jsonOnOneLine(received)
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'invalid') return // a server may print other lines on stdout
    this.#options.onMessage?.('s2c', text)
    if (message.kind === 'response') this.#deliverResponse(text, message)
    else if (message.kind === 'request') this.#channelFor(of)?.send(this.#serverRequests.add(text))
    else if (message.kind === 'notification') this.#deliverNotification(text, message, of)
  }

  #deliverResponse(text: string, message: Response): void {
    const { id, outcome } = message
    if (this.#handshake.receiveAnswer(message)) return
    const forwarded = id === null ? undefined : this.#requests.byLinkId(id)
    if (forwarded === undefined) return
    this.#requests.close(forwarded, outcome)
    const withId = replaceValue(text, ['id'], forwarded.live.id)
    const known = replaceValue(withId, ['result', '_meta', META_KEYS.subscriptionId], forwarded.live.id)
    forwarded.channel.reply(this.isAlone ? known : markAsLive(known), outcome)
    this.#wake()
  }

  #deliverNotification(text: string, notification: Notification, of: string | undefined): void {
    const rewritten = forwardNotification(text, notification, {
      requests: this.#requests,
      asks: this.#serverRequests,
    })
    if (rewritten === undefined) return
    const channel = rewritten.of?.channel ?? this.#channelFor(of)
    channel?.send(rewritten.text)
  }

  /** `of` is the request whose stream carried the message, if the link knows it. */
  #channelFor(of: string | undefined): ReplyChannel | undefined {
    const own = this.#requests.all().find(({ id }) => idKey(id) === of)
    return (own ?? this.#requests.likelySubject)?.channel
  }

  #failRequest(key: string, why: string): void {
    if (key === UPSTREAM_HANDSHAKE_KEY) return this.#handshake.fail(why)
    const forwarded = this.#requests.all().find(({ id }) => idKey(id) === key)
    if (forwarded !== undefined) this.#sendFailure(forwarded, why)
  }

  #fail(why: string): void {
    this.#failure ??= why
    this.#handshake.fail(why)
    for (const forwarded of this.#requests.all()) this.#sendFailure(forwarded, this.#failure)
  }

  #sendFailure(forwarded: ForwardedRequest, why: string): void {
    this.#requests.close(forwarded)
    const error = { code: INTERNAL_ERROR, message: `the live server did not answer: ${why}` }
    forwarded.channel.reply(responseText(forwarded.live.id, { error }), { error })
    this.#wake()
  }
}

function cancelText(requestId: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
}

const HANDSHAKE_ID = 'reelay-live-initialize'

/** The key by which a link reports that this request was lost. */
const UPSTREAM_HANDSHAKE_KEY: string = idKey(HANDSHAKE_ID)

/** Keeps the client's `initialize` and sends it to the live server. A modern server needs none. */
class UpstreamHandshake {
  #initialize: string | undefined
  #settle: (() => void) | undefined
  #reject: ((error: Error) => void) | undefined

  observe(text: string, message: Message): void {
    if (message.kind === 'request' && message.method === 'initialize') this.#initialize = text
  }

  async perform(send: (text: string) => void): Promise<void> {
    if (this.#initialize === undefined) return
    const answered = new Promise<void>((resolve, reject) => {
      this.#settle = resolve
      this.#reject = reject
    })
    send(replaceValue(this.#initialize, ['id'], JSON.stringify(HANDSHAKE_ID)))
    await answered
    send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  }

  /** Returns true if the response belongs to this handshake. */
  receiveAnswer({ id, outcome }: Response): boolean {
    if (id !== HANDSHAKE_ID) return false
    if ('error' in outcome)
      this.fail(`it rejected initialize: ${describeValue(member(outcome.error, 'message'))}`)
    else this.#settle?.()
    return true
  }

  fail(why: string): void {
    this.#reject?.(new Error(why))
  }
}

/** Marks a result as live in its `_meta`, so that a client can see that it is not from the tape. Other bytes stay unchanged. */
export function markAsLive(text: string): string {
  const meta = findRange(text, ['result', '_meta'])
  if (meta !== undefined)
    return text[meta.start] === '{' ? withFirstMember(text, meta.start, LIVE_MARK) : text
  const result = findRange(text, ['result'])
  return result !== undefined && text[result.start] === '{'
    ? withFirstMember(text, result.start, `"_meta":{${LIVE_MARK}}`)
    : text
}

const LIVE_MARK = '"reelay/live":true'

/** Inserts a member into the object that begins at `start`. */
function withFirstMember(text: string, start: number, inserted: string): string {
  const rest = text.slice(start + 1)
  const isEmpty = rest.trimStart().startsWith('}')
  return `${text.slice(0, start + 1)}${inserted}${isEmpty ? '' : ','}${rest}`
}
