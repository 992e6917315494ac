import { itemRanges } from '../../json/find-replace.ts'
import type { JsonRange } from '../../json/scan.ts'
import { parseJson, member } from '../../json/parse.ts'
import type { ClientLink, OpenLink } from '../../link/client-link.ts'
import {
  idKey,
  idFromKey,
  isId,
  type Id,
  classifyMessage,
  type Message,
  type Request,
  type Response,
  type Notification,
  META_KEYS,
  metaValue,
} from '../../protocol/message.ts'
import { guessId } from '../../protocol/find-id.ts'
import {
  type CallEnd,
  Deadlines,
  type ExpectedAnswer,
  LiveCall,
  OpenCalls,
  type OutgoingCall,
} from './live-calls.ts'
import { LiveNotifications } from './live-notifications.ts'
import { truncateAtWord } from '../../text.ts'

export interface LiveSessionOptions {
  readonly open: OpenLink
  /** Answers a request of the server. Returns JSON members such as `"result":{}`. */
  readonly onAsk: (request: Request, text: string) => Promise<string>
  /** Takes a note about a message that is invalid or answers no open request. */
  readonly onOddity: (oddity: string) => void
  readonly now: () => number
}

/** A session with the live server. Matches answers with requests, and unsolicited messages with the calls they belong to. */
export class LiveSession {
  readonly #options: LiveSessionOptions
  readonly #open = new OpenCalls()
  readonly #attribution = new CallAttribution(this.#open)
  readonly #deadlines: Deadlines<LiveCall>
  readonly #closing = new AbortController()
  #link: ClientLink | undefined
  /** Why the session ended; `undefined` while the link is open. */
  #end: CallEnd | undefined
  #isReleased = false
  #lastId = 0
  #calls = 0
  readonly notifications: LiveNotifications = new LiveNotifications()
  sent = 0
  received = 0

  constructor(options: LiveSessionOptions) {
    this.#options = options
    this.#deadlines = new Deadlines({
      items: this.#open,
      onExpired: (call) => this.#finish(call, { kind: 'timeout', after: call.timeout }),
      now: options.now,
    })
  }

  async connect(): Promise<void> {
    const link = await this.#options.open({
      onText: (text) => this.#receive(text),
      onLost: (key, why) => this.#lose(idFromKey(key), why),
      onEnd: (why) => this.#endAll({ kind: 'lost', why }),
      signal: this.#closing.signal,
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
    this.#open.add(call)
    this.#attribution.opened(call)
    this.#deadlines.add(call)
    if (this.#end === undefined) this.send(outgoing.text, outgoing.message)
    else this.#finish(call, this.#end)
    if (this.#isReleased) call.release()
    return call
  }

  /** Stops waiting for answers, also to requests that are sent later. */
  release(): void {
    this.#isReleased = true
    for (const call of this.#open) call.release()
  }

  send(text: string, message?: Message): void {
    this.sent++
    this.#link?.send(text, message)
  }

  /** Aborts a request on a link that has a stream for each request. Returns false on other links. */
  abort(id: Id): boolean {
    return this.#link?.abort?.(idKey(id)) ?? false
  }

  async close(how?: Parameters<ClientLink['close']>[0]): Promise<void> {
    this.#endAll({ kind: 'given-up' })
    this.#closing.abort()
    this.#deadlines.close()
    await this.#link?.close(how)
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
    this.notifications.add(message)
    this.#attribution.callFor(message)?.addMessage({ message, text, at: this.#options.now() })
    if (message.kind === 'request') void this.#reply(message, text)
  }

  /** An invalid message with the id of an open request ends that request. */
  #handleInvalid(text: string): void {
    const id = text.includes('"id"') ? member(parseJson(text), 'id') : undefined
    const call = isId(id) ? this.#open.get(id) : undefined
    const shown = truncateAtWord(text, 200)
    if (call !== undefined)
      this.#finish(call, { kind: 'lost', why: `the answer is not a valid response: ${shown}` })
    else this.#options.onOddity(`the server sent an invalid message: ${shown}`)
  }

  async #reply(request: Request, text: string): Promise<void> {
    const outcome = await this.#options.onAsk(request, text)
    this.send(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${outcome}}`)
  }

  #answer({ id, outcome }: Response, text: string): void {
    const call = id === null ? undefined : this.#open.get(id)
    if (call !== undefined) return this.#finish(call, { kind: 'answered', text, asRecorded: false })
    const why = 'error' in outcome ? `: ${String(member(outcome.error, 'message'))}` : ''
    const whose = this.#isOwn(id) ? 'a second time, or too late' : 'which is not the id of any request'
    this.#options.onOddity(`the server answered ${JSON.stringify(id)}, ${whose}${why}`)
  }

  /** Whether this is the id of a request of this session. */
  #isOwn(id: Id | null): boolean {
    return typeof id === 'number' && id > 0 && id <= this.#lastId
  }

  #finish(call: LiveCall, end: CallEnd): void {
    if (call.isOver) return
    this.#open.delete(call)
    this.#attribution.closed(call)
    this.#deadlines.remove(call)
    call.end(end, this.#options.now())
  }

  #lose(id: Id, why: string): void {
    const call = this.#open.get(id)
    if (call !== undefined) this.#finish(call, { kind: 'lost', why })
  }

  #endAll(end: CallEnd): void {
    this.#end ??= end
    this.notifications.close()
    for (const call of this.#open) this.#finish(call, end)
  }
}

/** Decides to which call an unsolicited message belongs, by the same rules as for the turns of a tape. */
class CallAttribution {
  readonly #open: OpenCalls
  readonly #byToken = new Map<Id, LiveCall>()

  constructor(open: OpenCalls) {
    this.#open = open
  }

  opened(call: LiveCall): void {
    if (call.token !== undefined) this.#byToken.set(call.token, call)
  }

  /** Later messages with its progress token belong to no call. */
  closed({ token }: LiveCall): void {
    if (token !== undefined) this.#byToken.delete(token)
  }

  callFor({ method, params }: Request | Notification): LiveCall | undefined {
    const subscription = metaValue(params, META_KEYS.subscriptionId)
    if (isId(subscription)) return this.#open.get(subscription)
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(token)
    return this.#open.latest()
  }
}

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
