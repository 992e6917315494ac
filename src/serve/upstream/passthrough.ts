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
  /** The way to the live server, gone once for each client. */
  readonly open: OpenLink
  /** Whether what it says joins the tape. */
  readonly learns: boolean
  /** What is sent to it with everything: the server may repeat it, and it is to stay off the tape. */
  readonly headers?: Readonly<Record<string, string>>
  /** Values that are secret because somebody says so. */
  readonly secrets?: readonly string[] | undefined
}

/** What was learned: how many messages, from how many clients. */
interface LearnedCounts {
  readonly messages: number
  readonly clients: number
}

/** The live server behind a tape, for any number of clients. */
export class PassthroughServer {
  readonly #options: PassthroughServerOptions
  /** What crossed each link, kept until the run is over: until then the tape is being played. */
  readonly #links: EpisodeMessage[][] = []

  constructor(options: PassthroughServerOptions) {
    this.#options = options
  }

  /** The live server of one more client. */
  connectClient(): Passthrough {
    const { open, learns } = this.#options
    if (!learns) return new Passthrough({ open })
    const messages: EpisodeMessage[] = []
    this.#links.push(messages)
    return new Passthrough({ open, onMessage: (dir, text) => messages.push({ dir, text, at: Date.now() }) })
  }

  /** Adds what was learned to the tape, each client as a connection of its own; called when all of them are gone. */
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
  /** Makes the transport to a live server that misses are passed on to: one for each client. */
  readonly live?: () => AnyTransport
  /** Whether they are: `none` passes nothing on, `new-episodes` adds what was learned to the tape at `close`. In CI, by default `none`. */
  readonly mode?: 'none' | 'passthrough' | 'new-episodes'
}

/** The live server behind a transport; undefined when nothing is to go live. */
export function passthroughServerFor({
  live,
  mode,
  secrets,
}: LiveUpstreamOptions & Pick<ServeOptions, 'secrets'>): PassthroughServer | undefined {
  if (live === undefined || (mode ?? (isCi() ? 'none' : 'passthrough')) === 'none') return undefined
  if (isCi()) process.emitWarning(`CI is set, and mode ${mode} lets this run go live all the same`, 'reelay')
  return new PassthroughServer({
    open: (handlers) => sdkTransportLink(live())(handlers),
    learns: mode === 'new-episodes',
    secrets,
  })
}

interface PassthroughOptions {
  /** The way to the live server, opened with the first request that goes there. */
  readonly open: OpenLink
  /** Told of everything that crosses the live link. */
  readonly onMessage?: ((dir: Direction, text: string) => void) | undefined
  /** There is no tape to play: everything goes to the live server, and answers are not marked. */
  readonly isAlone?: boolean
}

/** Passes on to a live server what the tape cannot answer, and back what that server says. For one client. */
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
    const passed = this.#requests.add(live, channel)
    if (this.#failure !== undefined) return this.#sendFailure(passed, this.#failure)
    this.#whenConnected((link) => {
      if (!this.#requests.has(passed)) return // cancelled before the server was there
      this.#sent.add(passed)
      this.#send(link, passed.text)
    })
  }

  cancel(id: Id, { scope }: ReplyChannel): void {
    const passed = this.#requests.byClientId(id, scope)
    if (passed !== undefined) this.#cancelRequest(passed, cancelText(passed.id))
  }

  async close(stop: AbortSignal): Promise<void> {
    if (this.#opening === undefined) return
    stop.addEventListener('abort', () => this.#wake())
    while (this.#requests.hasUnanswered && !stop.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    // One that never was there needs no end, and everyone who waited for it was told.
    const link = await this.#opening.catch(() => undefined)
    await link?.close()
    this.#fail('it was ended with its client')
  }

  /** A legacy server is opened as the client opened the recorded one. */
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
    const passed = isId(id) ? this.#requests.byClientId(id, '') : undefined
    if (passed === undefined) return false
    this.#cancelRequest(passed, replaceValue(text, ['params', 'requestId'], String(passed.id)))
    return true
  }

  /** A server that is there is told by the end of its stream, where that means something, and else in words. */
  #cancelRequest(passed: ForwardedRequest, inWords: string): void {
    this.#requests.close(passed)
    passed.channel.reply(undefined)
    this.#wake()
    if (!this.#sent.has(passed)) return
    this.#whenConnected((link) => link.abort?.(idKey(passed.id)) === true || this.#send(link, inWords))
  }

  #receive(said: string, of: string | undefined): void {
    const text = jsonOnOneLine(said)
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'invalid') return // a print on stdout, which is no message for anyone
    this.#options.onMessage?.('s2c', text)
    if (message.kind === 'response') this.#deliverResponse(text, message)
    else if (message.kind === 'request') this.#channelFor(of)?.send(this.#serverRequests.add(text))
    else if (message.kind === 'notification') this.#deliverNotification(text, message, of)
  }

  #deliverResponse(text: string, message: Response): void {
    const { id, outcome } = message
    if (this.#handshake.receiveAnswer(message)) return
    const passed = id === null ? undefined : this.#requests.byLinkId(id)
    if (passed === undefined) return
    this.#requests.close(passed, outcome)
    const named = replaceValue(text, ['id'], passed.live.id)
    const known = replaceValue(named, ['result', '_meta', META_KEYS.subscriptionId], passed.live.id)
    passed.channel.reply(this.isAlone ? known : markAsLive(known), outcome)
    this.#wake()
  }

  #deliverNotification(text: string, notification: Notification, of: string | undefined): void {
    const notice = forwardNotification(text, notification, {
      requests: this.#requests,
      asks: this.#serverRequests,
    })
    if (notice === undefined) return
    const channel = notice.of?.channel ?? this.#channelFor(of)
    channel?.send(notice.text)
  }

  /** `of` is the request in whose stream it came, where the link can tell. */
  #channelFor(of: string | undefined): ReplyChannel | undefined {
    const own = this.#requests.all().find(({ id }) => idKey(id) === of)
    return (own ?? this.#requests.likelySubject)?.channel
  }

  #failRequest(key: string, why: string): void {
    if (key === UPSTREAM_HANDSHAKE_KEY) return this.#handshake.fail(why)
    const passed = this.#requests.all().find(({ id }) => idKey(id) === key)
    if (passed !== undefined) this.#sendFailure(passed, why)
  }

  #fail(why: string): void {
    this.#failure ??= why
    this.#handshake.fail(why)
    for (const passed of this.#requests.all()) this.#sendFailure(passed, this.#failure)
  }

  #sendFailure(passed: ForwardedRequest, why: string): void {
    this.#requests.close(passed)
    const error = { code: INTERNAL_ERROR, message: `the live server did not answer: ${why}` }
    passed.channel.reply(responseText(passed.live.id, { error }), { error })
    this.#wake()
  }
}

function cancelText(requestId: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
}

const HANDSHAKE_ID = 'reelay-live-initialize'

/** What a link calls this request when it is lost. */
const UPSTREAM_HANDSHAKE_KEY: string = idKey(HANDSHAKE_ID)

/** The client's `initialize`, kept to open a live server with it; a modern server needs none. */
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

  /** Takes an answer of the server, when it is to this. */
  receiveAnswer({ id, outcome }: Response): boolean {
    if (id !== HANDSHAKE_ID) return false
    if ('error' in outcome)
      this.fail(`it refused initialize: ${describeValue(member(outcome.error, 'message'))}`)
    else this.#settle?.()
    return true
  }

  fail(why: string): void {
    this.#reject?.(new Error(why))
  }
}

/** A client can see that an answer did not come from the tape: `_meta` of a result says so, and every other byte is as it came. */
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

/** The text with one more member in the object that begins there. */
function withFirstMember(text: string, start: number, given: string): string {
  const rest = text.slice(start + 1)
  const isEmpty = rest.trimStart().startsWith('}')
  return `${text.slice(0, start + 1)}${given}${isEmpty ? '' : ','}${rest}`
}
