import { idKey, isId } from '../wire/id.ts'
import { rangeAt, replaceAt } from '../wire/members.ts'
import { classify, isObject, member, type Message, type Request } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Direction } from '../wire/direction.ts'
import type { Ways } from './answering.ts'
import type { Elsewhere } from './elsewhere.ts'
import { LiveHandshake } from './live-handshake.ts'
import { answerText } from './own-answer.ts'
import type { Reply } from './reply.ts'

/** A link to a live server. */
export interface LiveServer {
  readonly send: (text: string) => void
  /** Ends the link; resolves when the server is gone. */
  readonly end: () => Promise<void>
}

export interface LiveListener {
  /** One message of the server. */
  readonly heard: (text: string) => void
  readonly gone: (why: string) => void
}

export interface PassthroughOptions {
  /** Starts the server, or connects to it. Called once, with the first request that the tape cannot answer. */
  readonly start: (listener: LiveListener) => Promise<LiveServer>
  /** Told of everything that crosses the live link. */
  readonly onMessage?: (dir: Direction, text: string) => void
}

/** Passes on to a live server what the tape cannot answer, and back what that server says. */
export class Passthrough implements Elsewhere {
  readonly #options: PassthroughOptions
  readonly #handshake = new LiveHandshake()
  readonly #open = new Map<string, Passed>()
  /** What the live server asks has an id of our own for the client; this is the server's. */
  readonly #asks = new Map<string, string>()
  #server: Promise<LiveServer> | undefined
  #newest: Ways | undefined
  #failure: string | undefined
  #wake: () => void = () => {}

  constructor(options: PassthroughOptions) {
    this.#options = options
  }

  hear(text: string, message: Message): boolean {
    this.#handshake.hear(text, message)
    if (message.kind === 'response') return this.#passAnswer(text, message.id)
    if (message.kind !== 'notification' || this.#server === undefined) return false
    const cancelled = member(message.params, 'requestId')
    const isOurs = message.method === 'notifications/cancelled' && isId(cancelled)
    if (isOurs && !this.#open.delete(idKey(cancelled))) return false
    this.#pass(text)
    return isOurs
  }

  answer(text: string, request: Request, ways: Ways): void {
    this.#open.set(idKey(request.id), { reply: ways.reply, id: idIn(text) })
    this.#newest = ways
    this.#pass(text)
  }

  async over(stop: AbortSignal): Promise<void> {
    if (this.#server === undefined) return
    stop.addEventListener('abort', () => this.#wake())
    while (this.#open.size > 0 && this.#failure === undefined && !stop.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    await this.#server.then(
      (server) => server.end(),
      () => {}, // it never was there, and everyone who waited for it was told
    )
  }

  #pass(text: string): void {
    this.#server ??= this.#start()
    this.#server.then(
      (server) => this.#send(server, text),
      (error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)),
    )
  }

  #send(server: LiveServer, text: string): void {
    this.#options.onMessage?.('c2s', text)
    server.send(text)
  }

  /** A legacy server is opened as the client opened the recorded one. */
  async #start(): Promise<LiveServer> {
    const server = await this.#options.start({
      heard: (text) => this.#heard(text),
      gone: (why) => this.#fail(why),
    })
    await this.#handshake.shake((text) => this.#send(server, text))
    return server
  }

  #heard(text: string): void {
    const message = classify(parseJson(text))
    if (message.kind === 'invalid') return // a print on stdout, which is no message for anyone
    this.#options.onMessage?.('s2c', text)
    if (message.kind === 'response' && message.id !== null) this.#give(text, idKey(message.id))
    else if (message.kind === 'request') this.#ask(text)
    else if (message.kind === 'notification') this.#newest?.outlet.send(text)
  }

  #give(text: string, key: string): void {
    if (this.#handshake.settle(key)) return
    const passed = this.#open.get(key)
    this.#open.delete(key)
    passed?.reply(marked(text))
    this.#wake()
  }

  #ask(text: string): void {
    const own = `reelay-live-${this.#asks.size + 1}`
    this.#asks.set(idKey(own), idIn(text))
    this.#newest?.outlet.send(replaceAt(text, ['id'], JSON.stringify(own)))
  }

  #passAnswer(text: string, id: unknown): boolean {
    const theirs = isId(id) ? this.#asks.get(idKey(id)) : undefined
    if (theirs === undefined) return false
    this.#pass(replaceAt(text, ['id'], theirs))
    return true
  }

  #fail(why: string): void {
    this.#failure ??= why
    this.#handshake.fail(why)
    const error = { code: INTERNAL_ERROR, message: `the live server did not answer: ${this.#failure}` }
    for (const { reply, id } of this.#open.values()) reply(answerText(id, { error }), { error })
    this.#open.clear()
    this.#wake()
  }
}

/** A request that was passed on; `id` is JSON. */
interface Passed {
  readonly reply: Reply
  readonly id: string
}

function idIn(text: string): string {
  const range = rangeAt(text, ['id'])
  return range === undefined ? 'null' : text.slice(range.start, range.end)
}

const INTERNAL_ERROR = -32603

/** A client can see that an answer did not come from the tape: `_meta` says so, where there is room for it. */
function marked(text: string): string {
  const result = member(parseJson(text), 'result')
  if (!isObject(result)) return text
  const meta = member(result, '_meta')
  const _meta = { ...(isObject(meta) ? meta : {}), 'reelay/live': true }
  if (isObject(meta)) return replaceAt(text, ['result', '_meta'], JSON.stringify(_meta))
  return replaceAt(text, ['result'], JSON.stringify({ ...result, _meta }))
}
