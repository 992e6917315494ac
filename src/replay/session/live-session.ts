import type { ClientLink, OpenLink } from '../../link/client-link.ts'
import { truncateAtWord } from '../../wire/first-words.ts'
import { idKey, idFromKey, isId, type Id } from '../../protocol/id.ts'
import { itemRanges } from '../../json/find.ts'
import { classifyMessage, member, type Message, type Request, type Response } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import { CallAttribution } from '../attribution.ts'
import { Deadlines } from './deadlines.ts'
import { LiveNotifications } from './live-notifications.ts'
import { LiveCall, type CallEnd, type OutgoingCall } from './live-calls.ts'
import { OpenCalls } from '../open-calls.ts'
import { findUnchangedAnswer } from '../same-bytes.ts'

export interface LiveSessionOptions {
  readonly open: OpenLink
  /** Answers a request of the server: the outcome as JSON members, such as `"result":{}`. */
  readonly onAsk: (request: Request, text: string) => Promise<string>
  /** What the server sent that cannot be read, or that nobody waits for. */
  readonly onOddity: (oddity: string) => void
  readonly now: () => number
}

/** One client's conversation with the live server: pairs answers, gives the server's own words to their calls. */
export class LiveSession {
  readonly #options: LiveSessionOptions
  readonly #open = new OpenCalls()
  readonly #attribution = new CallAttribution(this.#open)
  readonly #deadlines: Deadlines<LiveCall>
  readonly #closing = new AbortController()
  #link: ClientLink | undefined
  /** Why nothing comes any more; undefined while the link is open. */
  #end: CallEnd | undefined
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

  /** Sends a request; what becomes of it is in `done`, which never rejects. */
  call(outgoing: OutgoingCall): LiveCall {
    const call = new LiveCall(outgoing, this.#options.now(), this.#calls++)
    this.#open.add(call)
    this.#attribution.opened(call)
    this.#deadlines.add(call)
    if (this.#end === undefined) this.send(outgoing.text, outgoing.message)
    else this.#finish(call, this.#end)
    return call
  }

  send(text: string, message?: Message): void {
    this.sent++
    this.#link?.send(text, message)
  }

  /** Gives a request up on a link whose requests have streams of their own. */
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
    if (this.#closing.signal.aborted) return // nobody waits for what still comes
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

  /** What names an open request answers it, badly. */
  #handleInvalid(text: string): void {
    const id = text.includes('"id"') ? member(parseJson(text), 'id') : undefined
    const call = isId(id) ? this.#open.get(id) : undefined
    const shown = truncateAtWord(text, 200)
    if (call !== undefined) this.#finish(call, { kind: 'lost', why: `the answer is no response: ${shown}` })
    else this.#options.onOddity(`the server sent what is no message: ${shown}`)
  }

  async #reply(request: Request, text: string): Promise<void> {
    const outcome = await this.#options.onAsk(request, text)
    this.send(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${outcome}}`)
  }

  #answer({ id, outcome }: Response, text: string): void {
    const call = id === null ? undefined : this.#open.get(id)
    if (call !== undefined) return this.#finish(call, { kind: 'answered', text, asRecorded: false })
    const why = 'error' in outcome ? `: ${String(member(outcome.error, 'message'))}` : ''
    const whose = this.#isOwn(id) ? 'a second time, or too late' : 'which no request has for an id'
    this.#options.onOddity(`the server answered ${JSON.stringify(id)}, ${whose}${why}`)
  }

  /** Whether we made up this id, and its request is over. */
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
