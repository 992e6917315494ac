import { parseJson, member } from '../../json/parse.ts'
import type { JsonRange } from '../../json/scan.ts'
import type { ClientLink, LinkExchange, OpenLink } from '../../link/client-link.ts'
import {
  classifyMessage,
  type Message,
  type Request,
  type Response,
  type Notification,
  idKey,
  idFromKey,
  isId,
  type Id,
  META_KEYS,
  metaValue,
} from '../../protocol/message.ts'
import { Deadlines } from './deadlines.ts'
import { LiveNotifications } from './live-notifications.ts'
import { truncateAtWord } from '../../text.ts'
import { itemRanges } from '../../json/find-replace.ts'
import { guessId } from '../../protocol/find-id.ts'

export interface LiveSessionOptions {
  readonly open: OpenLink
  /** Milliseconds that the server may take to start. Until it has answered a request, this is the limit of every request. */
  readonly startTimeout: number
  /** Answers a request of the server. Returns JSON members such as `"result":{}`. */
  readonly onRequest: (request: Request) => Promise<string>
  /** Called with a note about a message that is invalid or answers no open request. */
  readonly onNote: (note: string) => void
  readonly now: () => number
  /** True if the calls note when the first bytes of their responses arrive, on links that report it. */
  readonly timesFirstByte?: boolean | undefined
}

const MAX_STRAY_LINES = 1000
const CLOSED = 'the session was closed'

/** A session with the live server. Matches answers with requests, and unsolicited messages with the calls they belong to. */
export class LiveSession {
  readonly #options: LiveSessionOptions
  readonly #open = new OpenCalls()
  readonly #byToken = new Map<Id, LiveCall>()
  readonly #deadlines: Deadlines<LiveCall>
  readonly #exchanges = new OpenExchanges()
  #exchangeTimer: NodeJS.Timeout | undefined
  /** When the exchanges are checked next. */
  #exchangesDue = Infinity
  readonly #closing = new AbortController()
  #link: ClientLink | undefined
  /** Why the session ended; `undefined` while the link is open. */
  #end: CallEnd | undefined
  #isReleased = false
  /** True after the first answer of the server. */
  #hasStarted = false
  /** True after the first answer to a recorded request. */
  #hasAnswered = false
  /** When the last message was sent, or the last request answered. */
  #lastMessageAt = 0
  #lastId = 0
  #calls = 0
  readonly notifications: LiveNotifications = new LiveNotifications()
  sent = 0
  received = 0

  constructor(options: LiveSessionOptions) {
    this.#options = options
    this.#deadlines = new Deadlines({
      items: this.#open,
      onExpired: (call) => this.#finish(call, { kind: 'timeout', after: call.allowed }),
      now: options.now,
    })
  }

  #handshake: LiveCall | undefined

  /** The first lines of the server that are not JSON-RPC messages. */
  readonly strayLines: string[] = []

  async connect(): Promise<void> {
    const link = await this.#options.open({
      onText: (text) => this.#receive(text),
      onLost: (key, why) => this.#lose(idFromKey(key), why),
      onEnd: (why) => this.#endAll({ kind: 'lost', why }),
      signal: this.#closing.signal,
      ...(this.#options.timesFirstByte === true && { onResponding: (key) => this.#noteFirstByte(key) }),
    })
    this.#link = link
    if (this.#closing.signal.aborted) await link.close()
  }

  nextId(): number {
    return ++this.#lastId
  }

  hasOpen(id: Id): boolean {
    return this.#open.get(id) !== undefined
  }

  openCalls(): readonly LiveCall[] {
    return [...this.#open]
  }

  /** Sends a request. */
  request(outgoing: OutgoingCall): LiveCall {
    const call = new LiveCall(outgoing, this.#options.now(), this.#calls++)
    if (!this.#hasStarted && outgoing.timeout !== Infinity) call.limit(this.#options.startTimeout)
    this.#open.add(call)
    if (call.token !== undefined) this.#byToken.set(call.token, call)
    this.#deadlines.add(call)
    if (this.#end !== undefined) this.#finish(call, this.#end)
    else if (outgoing.batch === undefined) this.send(outgoing.text, outgoing.message)
    else outgoing.batch.send(this, outgoing.text, outgoing.message)
    if (this.#isReleased && outgoing.isHandshake !== true) call.release()
    if (outgoing.isHandshake === true) this.#handshake = call
    return call
  }

  /**
   * Sends a request in a short way, for callers who need only its answer and the times. Returns false if that is not possible now;
   * nothing was sent then. A request whose response is not one JSON body becomes a call, like one of `request`.
   */
  exchange(outgoing: DirectRequest, caller: ExchangeCaller): boolean {
    if (!this.#hasStarted || this.#end !== undefined || this.#isReleased) return false
    if (this.#link?.exchange === undefined || outgoing.timeout === Infinity) return false
    const exchange = new Exchange(this, outgoing, caller)
    if (!this.#link.exchange(exchange)) return false
    this.sent++
    this.#lastMessageAt = outgoing.sentAt
    this.#exchanges.add(exchange)
    if (exchange.due < this.#exchangesDue) this.#checkExchangesAt(exchange.due, outgoing.sentAt)
    return true
  }

  now(): number {
    return this.#options.now()
  }

  /** One timer serves all exchanges. One that is late becomes a call, which times out. */
  #checkExchanges(): void {
    const now = this.#options.now()
    let next = Infinity
    for (const exchange of this.#exchanges) {
      if (exchange.due <= now) this.callOf(exchange)
      else next = Math.min(next, exchange.due)
    }
    this.#exchangesDue = Infinity
    if (next !== Infinity) this.#checkExchangesAt(next, now)
  }

  #checkExchangesAt(due: number, now: number): void {
    clearTimeout(this.#exchangeTimer)
    this.#exchangesDue = due
    this.#exchangeTimer = setTimeout(() => this.#checkExchanges(), due - now).unref()
  }

  /** Reads the answer to an exchange. Returns the parsed answer, or `undefined` if it does not end the exchange. */
  readAnswer(exchange: Exchange, text: string): unknown {
    const value = parseJson(text)
    if (member(value, 'id') === exchange.outgoing.id && classifyMessage(value).kind === 'response')
      return this.endExchange(exchange) ? value : undefined
    this.callOf(exchange)
    this.#receive(text)
    return undefined
  }

  /** Returns false if the exchange was over before. */
  endExchange(exchange: Exchange): boolean {
    if (!this.#exchanges.delete(exchange)) return false
    this.received++
    this.#hasAnswered = true
    return true
  }

  /** Makes a call of an exchange that does not end as expected. */
  callOf(exchange: Exchange): void {
    if (!this.#exchanges.delete(exchange)) return
    const { outgoing } = exchange
    const message = { ...outgoing.request, id: outgoing.id }
    const call = new LiveCall({ ...outgoing, token: undefined, message }, outgoing.sentAt, this.#calls++)
    if (exchange.firstByteAt > 0) call.firstByteAt = exchange.firstByteAt
    this.#open.add(call)
    this.#deadlines.add(call)
    exchange.caller.onCall(call)
    if (this.#end !== undefined) this.#finish(call, this.#end)
  }

  /** Stops waiting for answers, also to requests that are sent later. */
  release(): void {
    this.#isReleased = true
    for (const call of this.#open) if (call !== this.#handshake) call.release()
  }

  send(text: string, message?: Message): void {
    this.sent++
    this.#lastMessageAt = this.#options.now()
    this.#link?.send(text, message)
  }

  /** True if each request has a stream of its own, so that other messages need a stream that is opened for them. */
  get hasStreams(): boolean {
    return this.#link?.abort !== undefined
  }

  /** Aborts a request on a link that has a stream for each request. Returns false on other links. */
  abort(id: Id): boolean {
    return this.#link?.abort?.(idKey(id)) ?? false
  }

  async close(how?: Parameters<ClientLink['close']>[0]): Promise<void> {
    this.#endAll({ kind: 'given-up' })
    this.#closing.abort(CLOSED) // without a reason, an error with a stack trace is made
    this.#deadlines.close()
    clearTimeout(this.#exchangeTimer)
    await this.#link?.close(how)
  }

  #noteFirstByte(key: string): void {
    const call = this.#open.get(idFromKey(key))
    if (call !== undefined) call.firstByteAt ??= this.#options.now()
  }

  #receive(text: string): void {
    if (this.#closing.signal.aborted) return // the session is being closed
    this.received++
    const equal = findUnchangedAnswer(text, this.#open)
    if (equal !== undefined) return this.#finish(equal, { kind: 'answered', text, asRecorded: true })
    const message = classifyMessage(parseJson(text))
    if (message.kind !== 'batch') return this.#dispatch(message, text)
    for (const [place, range] of itemRanges(text).entries())
      this.#dispatch(message.items[place], text.slice(range.start, range.end))
  }

  #dispatch(message: Message | undefined, text: string): void {
    if (message?.kind === 'response') return this.#answer(message, text)
    if (message?.kind !== 'request' && message?.kind !== 'notification') return this.#handleInvalid(text)
    const call = this.#callFor(message)
    if (message.kind === 'notification' && !isProgressOf(call, message)) {
      const { method, params } = message
      const isSubscribed = isId(metaValue(params, META_KEYS.subscriptionId))
      this.notifications.keep({
        method,
        params,
        isEarly: isOwnCall(call),
        isAtStart: !this.#hasAnswered && !isSubscribed,
        pause: this.#pause(),
      })
    }
    this.notifications.add(message)
    call?.addMessage({ message, text, at: this.#options.now() })
    if (message.kind === 'request') void this.#reply(message)
  }

  /** Milliseconds since the last message; 0 while a request is open that is not a subscription. */
  #pause(): number {
    const isWaiting = [...this.#open].some(({ text }) => !text.includes('"subscriptions/listen"'))
    return isWaiting ? 0 : this.#options.now() - this.#lastMessageAt
  }

  /** Returns the call that an unsolicited message belongs to, by the same rules as for the turns of a tape. */
  #callFor({ method, params }: Request | Notification): LiveCall | undefined {
    const subscription = metaValue(params, META_KEYS.subscriptionId)
    if (isId(subscription)) return this.#open.get(subscription)
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(token)
    return this.#open.latest()
  }

  /** An invalid message with the id of an open request ends that request. */
  #handleInvalid(text: string): void {
    const id = text.includes('"id"') ? member(parseJson(text), 'id') : undefined
    const call = isId(id) ? this.#open.get(id) : undefined
    const shown = truncateAtWord(text, 200)
    if (call !== undefined)
      this.#finish(call, { kind: 'lost', why: `the answer is not a valid response: ${shown}` })
    else this.#addStrayLine(shown)
  }

  #addStrayLine(shown: string): void {
    if (this.strayLines.length < MAX_STRAY_LINES) this.strayLines.push(shown)
    const advice =
      parseJson(shown) === undefined ? ' (if this is a log line, let the server log to stderr)' : ''
    this.#options.onNote(`the server sent an invalid message: ${shown}${advice}`)
  }

  async #reply(request: Request): Promise<void> {
    const outcome = await this.#options.onRequest(request)
    this.send(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${outcome}}`)
  }

  #answer({ id, outcome }: Response, text: string): void {
    const call = id === null ? undefined : this.#open.get(id)
    if (call !== undefined) return this.#finish(call, { kind: 'answered', text, asRecorded: false })
    const why = 'error' in outcome ? `: ${String(member(outcome.error, 'message'))}` : ''
    const whose = this.#isOwn(id) ? 'a second time, or too late' : 'which is not the id of any request'
    this.#options.onNote(`the server answered ${JSON.stringify(id)}, ${whose}${why}`)
  }

  /** Returns true if this is the id of a request of this session. */
  #isOwn(id: Id | null): boolean {
    return typeof id === 'number' && id > 0 && id <= this.#lastId
  }

  #finish(call: LiveCall, end: CallEnd): void {
    if (call.isOver) return
    this.#open.delete(call)
    if (call.token !== undefined) this.#byToken.delete(call.token) // later messages with its token belong to no call
    this.#deadlines.remove(call)
    this.#hasAnswered ||= !isOwnCall(call)
    this.#lastMessageAt = this.#options.now()
    call.end(end, this.#options.now())
    if (!this.#hasStarted && end.kind === 'answered') this.#start()
  }

  /** The server has started: from now on, requests that are already open have their own limits. */
  #start(): void {
    this.#hasStarted = true
    for (const call of this.#open) {
      if (call.due === Infinity) continue
      call.limit(call.timeout, this.#options.now())
      this.#deadlines.update(call)
    }
  }

  #lose(id: Id, why: string): void {
    const call = this.#open.get(id)
    if (call !== undefined) this.#finish(call, { kind: 'lost', why })
  }

  #endAll(end: CallEnd): void {
    this.#end ??= end
    this.notifications.close()
    for (const exchange of this.#exchanges) this.callOf(exchange)
    for (const call of this.#open) this.#finish(call, end)
  }
}

/** A request that can be sent in the short way. */
export interface DirectRequest extends Pick<LinkExchange, 'text' | 'isAscii' | 'request' | 'known'> {
  readonly id: number
  readonly timeout: number
  readonly sentAt: number
}

/** Who waits for a request that was sent in the short way. */
export interface ExchangeCaller {
  /** `response` is `undefined` if it equals a known one. Returns true if the response is good, and equal ones need not be read again. */
  onAnswer(response: AnswerText | undefined, firstByteAt: number, endedAt: number): boolean
  onCall(call: LiveCall): void
}

/** A response and its parsed form. */
export interface AnswerText {
  readonly value: unknown
  readonly text: string
}

/** A request that was sent in the short way. */
class Exchange implements LinkExchange {
  readonly outgoing: DirectRequest
  readonly caller: ExchangeCaller
  readonly id: string
  readonly #session: LiveSession
  firstByteAt = 0

  constructor(session: LiveSession, outgoing: DirectRequest, caller: ExchangeCaller) {
    this.#session = session
    this.outgoing = outgoing
    this.caller = caller
    this.id = String(outgoing.id)
  }

  get text(): string {
    return this.outgoing.text
  }

  get isAscii(): boolean {
    return this.outgoing.isAscii
  }

  get request(): Request {
    return this.outgoing.request
  }

  get known(): LinkExchange['known'] {
    return this.outgoing.known
  }

  get due(): number {
    return this.outgoing.sentAt + this.outgoing.timeout
  }

  responding(): void {
    this.firstByteAt = this.#session.now()
  }

  answered(text: string): boolean {
    const value = this.#session.readAnswer(this, text)
    if (value === undefined) return false
    return this.caller.onAnswer({ value, text }, this.firstByteAt, this.#session.now())
  }

  answeredAsKnown(): void {
    if (!this.#session.endExchange(this)) return
    const endedAt = this.#session.now()
    this.caller.onAnswer(undefined, endedAt, endedAt)
  }

  differs(): void {
    this.#session.callOf(this)
  }
}

/** The exchanges that have no response yet. In most sessions it is one, for which a `Set` would be slow. */
class OpenExchanges {
  #one: Exchange | undefined
  readonly #others = new Set<Exchange>()

  add(exchange: Exchange): void {
    if (this.#one === undefined) this.#one = exchange
    else this.#others.add(exchange)
  }

  /** Returns false if the exchange is not open. */
  delete(exchange: Exchange): boolean {
    if (this.#one !== exchange) return this.#others.delete(exchange)
    this.#one = undefined
    return true
  }

  *[Symbol.iterator](): Generator<Exchange> {
    if (this.#one !== undefined) yield this.#one
    yield* this.#others
  }
}

/** Returns true if a message reports the progress of an open call. */
function isProgressOf(call: LiveCall | undefined, { method }: Notification): boolean {
  return method === 'notifications/progress' && call !== undefined && !call.isOver
}

/** Returns true for a request that Reelay sends to open a session. */
function isOwnCall(call: LiveCall | undefined): boolean {
  return call === undefined || (typeof call.id === 'string' && OWN_ID.test(call.id))
}

const OWN_ID = /^__(?:handshake|tools)_/

/** Finds the open call that this text answers as recorded, without parsing the text. */
function findUnchangedAnswer(text: string, open: Pick<OpenCalls, 'get'>): LiveCall | undefined {
  const place = guessId(text)
  if (place === undefined) return undefined
  const call = open.get(Number(text.slice(place.start, place.end)))
  if (call?.expected === undefined) return undefined
  return isSameExceptId(text, place, call.expected) ? call : undefined
}

// The position of the id is a guess, but the whole text is compared, so a wrong guess does no harm. Comparing slices takes a
// quarter of the time of startsWith.
function isSameExceptId(
  text: string,
  { start, end }: JsonRange,
  { text: recorded, id }: ExpectedAnswer,
): boolean {
  const idEnd = start + id.length
  return (
    recorded.length === idEnd + text.length - end &&
    recorded.slice(0, start) === text.slice(0, start) &&
    recorded.slice(start, idEnd) === id &&
    recorded.slice(idEnd) === text.slice(end)
  )
}

/** How a live request ended. */
export type CallEnd =
  /** `asRecorded` means that the answer has the recorded bytes, except for its id. */
  | { readonly kind: 'answered'; readonly text: string; readonly asRecorded: boolean }
  | { readonly kind: 'timeout'; readonly after: number }
  | { readonly kind: 'lost'; readonly why: string }
  /** The run was stopped before the answer came. */
  | { readonly kind: 'given-up' }
  /** Not answered, as recorded: a stream that lasts to the end, a cancelled request, or one without an answer `after` milliseconds. */
  | { readonly kind: 'open'; readonly after?: number }

/** A message that the server sent while a request was open. */
export interface InterimMessage {
  readonly message: Request | Notification
  readonly text: string
  readonly at: number
}

/** The recorded answer and its id as JSON text. A live answer with the same bytes around its id need not be parsed. */
export interface ExpectedAnswer {
  readonly text: string
  readonly id: string
}

export interface OutgoingCall {
  /** The JSON text, which contains the id. */
  readonly text: string
  readonly id: Id
  readonly token: Id | undefined
  readonly expected?: ExpectedAnswer | undefined
  readonly timeout: number
  /** The parsed text, if it is known already. */
  readonly message?: Message | undefined
  /** True for a request without whose answer nothing else can be sent. */
  readonly isHandshake?: true
  /** True for a request of the user, whose answer is awaited in spite of `release`. */
  readonly isExtra?: boolean | undefined
  /** Sends the text as a part of a batch. */
  readonly batch?: { send(session: LiveSession, text: string, message?: Message): void } | undefined
}

/** A request to the live server. */
export class LiveCall {
  readonly id: Id
  readonly token: Id | undefined
  /** The JSON text that was sent. */
  readonly text: string
  readonly sentAt: number
  /** Milliseconds that the answer of a server that has started may take. */
  readonly timeout: number
  /** When the call times out, and after how many milliseconds that is. */
  due: number
  allowed: number
  /** Sequence number within its session. */
  readonly sequence: number
  readonly expected: ExpectedAnswer | undefined
  readonly #isExtra: boolean
  #asides: InterimMessage[] | undefined
  #onMessage: (() => void) | undefined
  endedAt: number | undefined
  firstByteAt: number | undefined
  /** How the call ended; never rejects. */
  readonly ended: Promise<CallEnd>
  #end: CallEnd | undefined
  #resolve: (end: CallEnd) => void = () => {}

  constructor({ id, token, text, timeout, expected, isExtra }: OutgoingCall, sentAt: number, number: number) {
    this.id = id
    this.token = token
    this.text = text
    this.sentAt = sentAt
    this.timeout = timeout
    this.allowed = timeout
    this.due = sentAt + timeout
    this.sequence = number
    this.expected = expected
    this.#isExtra = isExtra === true
    this.ended = new Promise((resolve) => (this.#resolve = resolve))
  }

  /** Sets the time that the answer may take from a moment on. */
  limit(milliseconds: number, from: number = this.sentAt): void {
    this.allowed = milliseconds
    this.due = from + milliseconds
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  get asides(): readonly InterimMessage[] {
    return this.#asides ?? NO_MESSAGES
  }

  /** Messages that come after the answer are not part of the call. */
  addMessage(aside: InterimMessage): void {
    if (this.isOver) return
    this.#asides ??= []
    if (this.#asides.length < MAX_INTERIM_MESSAGES || !isProgressOrLog(aside)) this.#asides.push(aside)
    this.#onMessage?.()
  }

  /** Waits until progress was reported `count` times, the call has ended, or the time is up. */
  waitForProgress(count: number, milliseconds: number): Promise<void> {
    const isEnough = (): boolean => this.isOver || this.asides.filter(isProgress).length >= count
    if (isEnough()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#onMessage = () => {
        if (!isEnough()) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  end(end: CallEnd, at: number): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#onMessage?.()
    this.endedAt = at
    this.#resolve(end)
  }

  /** Resolves `ended` without an answer. The call stays open, so that a late answer is still recognized. */
  release(): void {
    if (!this.#isExtra) this.#resolve({ kind: 'open' })
  }
}

const NO_MESSAGES: readonly InterimMessage[] = []

/** Limits progress and log messages, so that a chatty server cannot fill the memory. */
const MAX_INTERIM_MESSAGES = 10_000

function isProgressOrLog(aside: InterimMessage): boolean {
  return isProgress(aside) || aside.message.method === 'notifications/message'
}

function isProgress({ message }: InterimMessage): boolean {
  return message.method === 'notifications/progress'
}

// Ids count up, so that open calls rarely share a slot.
const TABLE_SIZE = 1024

/**
 * The calls that wait for their answers. Most are in a table of fixed size, because a Map that many calls pass through keeps
 * finished calls alive in its outgrown tables.
 */
export class OpenCalls implements Iterable<LiveCall> {
  readonly #table: (LiveCall | undefined)[] = []
  /** Calls whose slot is occupied, and calls whose ids are not whole numbers. */
  readonly #overflow = new Map<Id, LiveCall>()
  /** Calls whose id was used again by a later call, so that they cannot be answered. */
  readonly #hidden = new Set<LiveCall>()
  #last: LiveCall | undefined

  add(call: LiveCall): void {
    this.#last = call
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === undefined && !this.#overflow.has(call.id))
      this.#table[place] = call
    else this.#addFar(call)
  }

  /** Returns the later one of two calls with the same id. */
  get(id: Id): LiveCall | undefined {
    const far = this.#overflow.size === 0 ? undefined : this.#overflow.get(id)
    if (far !== undefined) return far
    const near = this.#table[slotOf(id)]
    return near?.id === id ? near : undefined
  }

  delete(call: LiveCall): void {
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === call) this.#table[place] = undefined
    else if (this.#overflow.get(call.id) === call) this.#overflow.delete(call.id)
    else this.#hidden.delete(call)
  }

  /** Returns the latest open call, or the latest of all if none is open. */
  latest(): LiveCall | undefined {
    return this.#last?.isOver === true ? ([...this].at(-1) ?? this.#last) : this.#last
  }

  /** Iterates in the order in which the calls were made. */
  [Symbol.iterator](): Iterator<LiveCall> {
    const near = this.#table.filter((call) => call !== undefined)
    const open = [...near, ...this.#overflow.values(), ...this.#hidden]
    return open.toSorted((a, b) => a.sequence - b.sequence)[Symbol.iterator]()
  }

  #addFar(call: LiveCall): void {
    const former = this.#overflow.get(call.id)
    if (former !== undefined) this.#hidden.add(former)
    this.#overflow.set(call.id, call)
  }
}

/** The slot of an id; -1 if it has none. */
function slotOf(id: Id): number {
  return typeof id === 'number' && id >>> 0 === id ? id % TABLE_SIZE : -1
}
