import { setTimeout as delay } from 'node:timers/promises'
import { headerOf } from '../transport/http-heads.ts'
import { isId } from '../wire/id.ts'
import { classify, member, type Message, type Response } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { isEventStream, sendAsk, textOf, type Answer, type Ask, type Way } from './http-ask.ts'
import { messageHeaders, modernVersion, sessionHeaders, streamHeaders } from './message-headers.ts'
import { Owed } from './owed.ts'
import { SESSION_LOST, UNREACHABLE } from './own-error.ts'
import { ParamHeaders } from './param-headers.ts'
import { readEvents, type Bookmark } from './read-events.ts'
import { refusalOf, refusedWith, type Refusal } from './refusal.ts'
import { hearServer, resumeHeaders, RETRY_MS } from './server-stream.ts'

/** The two sides that a bridge joins. */
export interface BridgeEnds extends Way {
  /** A message for the client, without line feeds. */
  readonly toClient: (message: string) => void
  /** For people. */
  readonly say: (words: string) => void
}

/** One POST, until its answers are there. */
interface Post {
  readonly message: Message
  readonly owed: Owed
  readonly abort: AbortController
}

const MOST_REDIRECTS = 3
const GOODBYE_MS = 1000

/** A client's side of Streamable HTTP, both forms: each message is a POST, answers come as JSON or as events. */
export class HttpSession {
  readonly #ends: BridgeEnds
  readonly #params = new ParamHeaders()
  readonly #posts = new Set<Post>()
  readonly #stop = new AbortController()
  readonly #said = new Set<string>()
  #agreed: { readonly session: string | undefined; readonly version: string | undefined } = {
    session: undefined,
    version: undefined,
  }

  constructor(ends: BridgeEnds) {
    this.#ends = ends
  }

  /** Whether somebody still waits for an answer. A subscription lasts as long as its client and does not count. */
  get isOwing(): boolean {
    return [...this.#posts].some(({ message, owed }) => !owed.isSettled && !isSubscription(message))
  }

  /**
   * Sends a message, and returns when the next one may be sent: a request must only be on its way, anything else must have
   * arrived. The first request of a session returns its refusal, if any, because there may be another way to say it.
   */
  async send(text: string, message: Message): Promise<Refusal | undefined> {
    if (this.#isTakenBack(message)) return undefined
    if (isOpening(message)) return this.#open(text, message)
    const post = { message, owed: new Owed(message), abort: new AbortController() }
    await new Promise<void>((mayGoOn) => {
      const onSent = message.kind === 'request' ? mayGoOn : undefined
      void this.#answer(post, text, onSent).then(mayGoOn)
    })
    if (message.kind === 'notification' && message.method === 'notifications/initialized') this.#hearServer()
    return undefined
  }

  /** A client may show less of an error than people need to know. */
  tell({ lines, words }: Refusal): void {
    for (const line of lines) this.#ends.toClient(line)
    if ((lines.length > 0 && words !== SESSION_LOST) || this.#said.has(words)) return
    this.#said.add(words)
    this.#ends.say(words)
  }

  /** Leaves what is under way and ends the session; may be called twice. */
  async close(): Promise<void> {
    const { session } = this.#agreed
    this.#stop.abort()
    for (const { abort } of this.#posts) abort.abort()
    if (session === undefined) return
    const headers = sessionHeaders(this.#agreed)
    this.#agreed = { ...this.#agreed, session: undefined }
    const signal = AbortSignal.timeout(GOODBYE_MS)
    await this.#ask({ method: 'DELETE', headers, signal })
      .then(textOf)
      .catch(() => {}) // a server may not know how, or be gone
  }

  /** In the modern era leaving is how a request is taken back; in the legacy era the server is told, and owes nothing more. */
  #isTakenBack(message: Message): boolean {
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return false
    const id = member(message.params, 'requestId')
    const post = isId(id) ? [...this.#posts].find(({ owed }) => owed.holds(id)) : undefined
    if (post === undefined || !isId(id)) return false
    post.owed.settle(id)
    if (modernVersion(post.message) === undefined) return false
    post.abort.abort()
    return true
  }

  async #answer(post: Post, text: string, onSent?: () => void): Promise<void> {
    const refusal = await this.#exchange(post, text, onSent)
    if (refusal !== undefined) this.tell(refusal)
  }

  /** With its answer the session is there, also when the server leaves the stream of that answer open. */
  #open(text: string, message: Message): Promise<Refusal | undefined> {
    return new Promise((resolve) => {
      const owed = new Owed(message, () => resolve(undefined))
      void this.#exchange({ message, owed, abort: new AbortController() }, text).then(resolve)
    })
  }

  async #exchange(post: Post, body: string, onSent?: () => void): Promise<Refusal | undefined> {
    const { message, owed, abort } = post
    this.#posts.add(post)
    const { signal } = abort
    const headers = messageHeaders(message, this.#agreed, this.#params)
    try {
      const ask = { method: 'POST', headers, body, signal, ...(onSent && { onSent }) } as const
      return await this.#take(await this.#ask(ask), post)
    } catch (error) {
      if (signal.aborted) return undefined
      const why = error instanceof Error ? error.message : String(error)
      return refusedWith(owed, UNREACHABLE, `cannot reach ${this.#ends.target.url.origin}: ${why}`)
    } finally {
      this.#posts.delete(post)
    }
  }

  async #take(answer: Answer, post: Post): Promise<Refusal | undefined> {
    const { status, headers } = answer
    if (status < 200 || status > 299)
      return refusalOf(answer, post.owed, { ...this.#agreed, url: this.#ends.target.url })
    const session = headerOf(headers, 'mcp-session-id')
    if (session !== undefined && isOpening(post.message)) this.#agreed = { ...this.#agreed, session }
    if (isEventStream(answer)) await this.#listen(answer, post)
    else this.#deliver(await textOf(answer))
    if (post.owed.isSettled || post.abort.signal.aborted) return undefined
    return refusedWith(post.owed, UNREACHABLE, 'the server ended the exchange before it answered')
  }

  /** Hears a stream to its end, and takes it up again where it broke off as long as something is owed. */
  async #listen(first: Answer, { owed, abort }: Post): Promise<void> {
    const mark: Bookmark = {}
    let answer: Answer | undefined = first
    while (answer !== undefined) {
      await readEvents(answer, { onMessage: (text) => this.#deliver(text) }, mark).catch(() => {}) // a break is an end
      const isOver = owed.isSettled || mark.lastEventId === undefined || abort.signal.aborted
      answer = isOver ? undefined : await this.#resume(mark, abort.signal)
    }
  }

  async #resume(mark: Bookmark, signal: AbortSignal): Promise<Answer | undefined> {
    await delay(mark.retryMs ?? RETRY_MS, undefined, { signal })
    const headers = [...streamHeaders(this.#agreed), ...resumeHeaders(mark)]
    const answer = await this.#ask({ method: 'GET', headers, signal })
    if (answer.status === 200 && isEventStream(answer)) return answer
    await textOf(answer)
    return undefined
  }

  #hearServer(): void {
    const { signal } = this.#stop
    void hearServer({
      ask: (resume) =>
        this.#ask({ method: 'GET', headers: [...streamHeaders(this.#agreed), ...resume], signal }),
      onMessage: (text) => this.#deliver(text),
      signal,
    })
  }

  #deliver(text: string): void {
    if (text.trim() === '') return
    const value = parseJson(text)
    if (value === undefined)
      return this.#ends.say('the server sent something that is no JSON; it is on the tape')
    const message = classify(value)
    for (const item of message.kind === 'batch' ? message.items : [message])
      if (item.kind === 'response') this.#settle(item)
    this.#ends.toClient(onOneLine(text))
  }

  #settle({ id, outcome }: Response): void {
    if (id === null) return
    const post = [...this.#posts].find(({ owed }) => owed.holds(id))
    post?.owed.settle(id)
    if (post?.message.kind !== 'request' || !('result' in outcome)) return
    const { method } = post.message
    const version = member(outcome.result, 'protocolVersion')
    if (method === 'initialize' && typeof version === 'string') this.#agreed = { ...this.#agreed, version }
    if (method === 'tools/list') this.#params.learn(outcome.result)
  }

  /** Follows a server that has moved within itself; to another one it sends nothing. */
  async #ask(ask: Omit<Ask, 'path'>): Promise<Answer> {
    const { target } = this.#ends
    let url = target.url
    for (let redirects = 0; ; redirects++) {
      const answer = await sendAsk(this.#ends, { ...ask, path: url.pathname + url.search })
      const next = redirectOf(answer, url)
      if (next?.origin !== target.url.origin || redirects >= MOST_REDIRECTS) return answer
      await textOf(answer)
      url = next
    }
  }
}

function redirectOf({ status, headers }: Answer, base: URL): URL | undefined {
  const location = headerOf(headers, 'location')
  if ((status !== 307 && status !== 308) || location === undefined) return undefined
  return URL.canParse(location, base.href) ? new URL(location, base) : undefined
}

function isOpening(message: Message): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}

function isSubscription(message: Message): boolean {
  return message.kind === 'request' && message.method === 'subscriptions/listen'
}

/** Between the tokens of JSON a line feed is white space. */
export function onOneLine(text: string): string {
  return text.trim().replaceAll(/[\r\n]+/g, ' ')
}
