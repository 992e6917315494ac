import type { ClientLink, OpenLink } from '../transport/client-link.ts'
import type { Direction } from '../wire/direction.ts'
import { idKey, isId, type Id } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import {
  classify,
  member,
  type Message,
  type Notification,
  type Request,
  type Response,
} from '../wire/message.ts'
import { META } from '../wire/methods.ts'
import { onOneLine } from '../wire/one-line.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Ways } from './answering.ts'
import type { Elsewhere } from './elsewhere.ts'
import { LiveAsks } from './live-asks.ts'
import { HANDSHAKE_KEY, LiveHandshake } from './live-handshake.ts'
import { markedLive } from './live-mark.ts'
import { liveNotice } from './live-notice.ts'
import type { Outlet } from './outlet.ts'
import { answerText } from './own-answer.ts'
import { PassedRequests, type Passed } from './passed-requests.ts'

export interface PassthroughOptions {
  /** The way to the live server, opened with the first request that goes there. */
  readonly open: OpenLink
  /** Told of everything that crosses the live link. */
  readonly onMessage?: ((dir: Direction, text: string) => void) | undefined
  /** There is no tape to play: everything goes to the live server, and answers are not marked. */
  readonly isAlone?: boolean
}

/** Passes on to a live server what the tape cannot answer, and back what that server says. For one client. */
export class Passthrough implements Elsewhere {
  readonly #options: PassthroughOptions
  readonly #handshake = new LiveHandshake()
  readonly #requests = new PassedRequests()
  readonly #asks = new LiveAsks()
  readonly #sent = new WeakSet<Passed>()
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

  hear(text: string, message: Message): boolean {
    if (!this.isAlone) this.#handshake.hear(text, message)
    if (message.kind === 'response') return this.#passAnswer(text, message) || this.isAlone
    if (message.kind !== 'notification') return false
    if (message.method === 'notifications/cancelled') return this.#passCancel(text, message) || this.isAlone
    if (this.#server !== undefined || this.isAlone) this.#whenThere((link) => this.#send(link, text))
    return this.isAlone
  }

  answer(text: string, request: Request, ways: Ways): void {
    const passed = this.#requests.add(text, request, ways)
    if (this.#failure !== undefined) return this.#refuse(passed, this.#failure)
    this.#whenThere((link) => {
      if (!this.#requests.has(passed)) return // cancelled before the server was there
      this.#sent.add(passed)
      this.#send(link, passed.text)
    })
  }

  cancel(id: Id, { scope }: Outlet): void {
    const passed = this.#requests.named(id, scope)
    if (passed !== undefined) this.#giveUp(passed, cancelText(passed.id))
  }

  async over(stop: AbortSignal): Promise<void> {
    if (this.#opening === undefined) return
    stop.addEventListener('abort', () => this.#wake())
    while (this.#requests.isOwing && !stop.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    // One that never was there needs no end, and everyone who waited for it was told.
    const link = await this.#opening.catch(() => undefined)
    await link?.close()
    this.#fail('it was ended with its client')
  }

  /** A legacy server is opened as the client opened the recorded one. */
  async #start(): Promise<ClientLink> {
    this.#opening = this.#options.open({
      onText: (text, of) => this.#heard(text, of),
      onLost: (key, why) => this.#lose(key, why),
      onEnd: (why) => this.#fail(why),
    })
    const link = await this.#opening
    await this.#handshake.shake((text) => this.#send(link, text))
    return link
  }

  #whenThere(act: (link: ClientLink) => unknown): void {
    this.#server ??= this.#start()
    this.#server.then(act, (error: unknown) =>
      this.#fail(error instanceof Error ? error.message : String(error)),
    )
  }

  #send(link: ClientLink, text: string): void {
    const line = onOneLine(text)
    this.#options.onMessage?.('c2s', line)
    link.send(line)
  }

  #passAnswer(text: string, { id }: Response): boolean {
    const theirs = this.#asks.take(id)
    if (theirs === undefined) return false
    this.#whenThere((link) => this.#send(link, replaceAt(text, ['id'], theirs)))
    return true
  }

  #passCancel(text: string, { params }: Notification): boolean {
    const id = member(params, 'requestId')
    const passed = isId(id) ? this.#requests.named(id, '') : undefined
    if (passed === undefined) return false
    this.#giveUp(passed, replaceAt(text, ['params', 'requestId'], String(passed.id)))
    return true
  }

  /** A server that is there is told by the end of its stream, where that means something, and else in words. */
  #giveUp(passed: Passed, inWords: string): void {
    this.#requests.close(passed)
    passed.ways.reply(undefined)
    this.#wake()
    if (!this.#sent.has(passed)) return
    this.#whenThere((link) => link.abort?.(idKey(passed.id)) === true || this.#send(link, inWords))
  }

  #heard(said: string, of: string | undefined): void {
    const text = onOneLine(said)
    const message = classify(parseJson(text))
    if (message.kind === 'invalid') return // a print on stdout, which is no message for anyone
    this.#options.onMessage?.('s2c', text)
    if (message.kind === 'response') this.#give(text, message)
    else if (message.kind === 'request') this.#outletOf(of)?.send(this.#asks.open(text))
    else if (message.kind === 'notification') this.#tell(text, message, of)
  }

  #give(text: string, message: Response): void {
    const { id, outcome } = message
    if (this.#handshake.settle(message)) return
    const passed = id === null ? undefined : this.#requests.open(id)
    if (passed === undefined) return
    this.#requests.close(passed, outcome)
    const named = replaceAt(text, ['id'], passed.live.id)
    const known = replaceAt(named, ['result', '_meta', META.subscriptionId], passed.live.id)
    passed.ways.reply(this.isAlone ? known : markedLive(known), outcome)
    this.#wake()
  }

  #tell(text: string, notification: Notification, of: string | undefined): void {
    const notice = liveNotice(text, notification, { requests: this.#requests, asks: this.#asks })
    if (notice === undefined) return
    const outlet = notice.of?.ways.outlet ?? this.#outletOf(of)
    outlet?.send(notice.text)
  }

  /** `of` is the request in whose stream it came, where the link can tell. */
  #outletOf(of: string | undefined): Outlet | undefined {
    const own = this.#requests.all().find(({ id }) => idKey(id) === of)
    return (own ?? this.#requests.likeliest)?.ways.outlet
  }

  #lose(key: string, why: string): void {
    if (key === HANDSHAKE_KEY) return this.#handshake.fail(why)
    const passed = this.#requests.all().find(({ id }) => idKey(id) === key)
    if (passed !== undefined) this.#refuse(passed, why)
  }

  #fail(why: string): void {
    this.#failure ??= why
    this.#handshake.fail(why)
    for (const passed of this.#requests.all()) this.#refuse(passed, this.#failure)
  }

  #refuse(passed: Passed, why: string): void {
    this.#requests.close(passed)
    const error = { code: INTERNAL_ERROR, message: `the live server did not answer: ${why}` }
    passed.ways.reply(answerText(passed.live.id, { error }), { error })
    this.#wake()
  }
}

const INTERNAL_ERROR = -32603

function cancelText(requestId: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
}
