import { headerOf } from '../transport/http-heads.ts'
import { classify, type Message, type Response } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { Agreement } from './agreement.ts'
import { hearAnswer } from './answer-stream.ts'
import { onOneLine, type BridgeEnds } from './bridge-ends.ts'
import { isEventStream, textOf, type Answer } from './http-ask.ts'
import { sessionHeaders, streamHeaders } from './message-headers.ts'
import { OpenPosts, type Post } from './open-posts.ts'
import { Owed } from './owed.ts'
import { SESSION_LOST, UNREACHABLE } from './own-error.ts'
import { askFollowing } from './redirects.ts'
import { refusalOf, refusedWith, type Refusal } from './refusal.ts'
import { hearServer, type StreamOptions } from './server-stream.ts'

const GOODBYE_MS = 1000

/** A client's side of Streamable HTTP, both forms: each message is a POST, answers come as JSON or as events. */
export class HttpSession {
  readonly #ends: BridgeEnds
  readonly #agreement = new Agreement()
  readonly #posts = new OpenPosts()
  readonly #stop = new AbortController()
  readonly #said = new Set<string>()

  constructor(ends: BridgeEnds) {
    this.#ends = ends
  }

  /** Whether somebody still waits for an answer. */
  get isOwing(): boolean {
    return this.#posts.isOwing
  }

  /**
   * Sends a message, and returns when the next one may be sent: a request must only be on its way, anything else must have
   * arrived. The first request of a session returns its refusal, if any, because there may be another way to say it.
   */
  async send(text: string, message: Message): Promise<Refusal | undefined> {
    if (this.#posts.takeBack(message)) return undefined
    if (isOpening(message)) return this.#open(text, message)
    const post = { message, owed: new Owed(message), abort: new AbortController() }
    await new Promise<void>((mayGoOn) => {
      const onSent = message.kind === 'request' ? mayGoOn : undefined
      void this.#answer(post, text, onSent).then(mayGoOn)
    })
    if (message.kind === 'notification' && message.method === 'notifications/initialized')
      void hearServer(this.#stream(this.#stop.signal))
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
    const { agreed } = this.#agreement
    this.#stop.abort()
    this.#posts.leaveAll()
    if (agreed.session === undefined) return
    this.#agreement.end()
    const signal = AbortSignal.timeout(GOODBYE_MS)
    await askFollowing(this.#ends, { method: 'DELETE', headers: sessionHeaders(agreed), signal })
      .then(textOf)
      .catch(() => {}) // a server may not know how, or be gone
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
    const headers = this.#agreement.headersFor(message)
    try {
      const ask = { method: 'POST', headers, body, signal, ...(onSent && { onSent }) } as const
      return await this.#take(await askFollowing(this.#ends, ask), post)
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
      return refusalOf(answer, post.owed, { ...this.#agreement.agreed, url: this.#ends.target.url })
    const session = headerOf(headers, 'mcp-session-id')
    if (session !== undefined && isOpening(post.message)) this.#agreement.begin(session)
    if (isEventStream(answer)) await hearAnswer(answer, post.owed, this.#stream(post.abort.signal))
    else this.#deliver(await textOf(answer))
    if (post.owed.isSettled || post.abort.signal.aborted) return undefined
    return refusedWith(post.owed, UNREACHABLE, 'the server ended the exchange before it answered')
  }

  #stream(signal: AbortSignal): StreamOptions {
    return {
      ask: (resume) => {
        const headers = [...streamHeaders(this.#agreement.agreed), ...resume]
        return askFollowing(this.#ends, { method: 'GET', headers, signal })
      },
      onMessage: (text) => this.#deliver(text),
      signal,
    }
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
    const message = id === null ? undefined : this.#posts.settle(id)
    if (message?.kind === 'request' && 'result' in outcome) this.#agreement.learn(message, outcome.result)
  }
}

function isOpening(message: Message): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}
