import { findHeader } from '../../http/headers.ts'
import { classifyMessage, type Message, type Response } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import { NegotiatedSession, sessionHeaders, streamHeaders } from './request-headers.ts'
import { readResponseStream, listenToServer, type EventStreamOptions } from './event-streams.ts'
import {
  asSingleLine,
  type BridgeContext,
  isEventStreamResponse,
  readBodyText,
  type BridgeHttpResponse,
  sendFollowingRedirects,
} from './http-requests.ts'
import { PendingPosts, type PendingPost, UnansweredIds } from './pending-posts.ts'
import {
  SESSION_LOST_MESSAGE,
  STATUS_UNREACHABLE,
  rejectionFrom,
  rejectedWith,
  type RejectedMessage,
} from './rejections.ts'

const DELETE_TIMEOUT_MS = 1000

/** A client's side of Streamable HTTP, both forms: each message is a POST, answers come as JSON or as events. */
export class BridgeHttpSession {
  readonly #context: BridgeContext
  readonly #session = new NegotiatedSession()
  readonly #posts = new PendingPosts()
  readonly #stop = new AbortController()
  readonly #reported = new Set<string>()

  constructor(ends: BridgeContext) {
    this.#context = ends
  }

  /** Whether somebody still waits for an answer. */
  get isAwaitingResponses(): boolean {
    return this.#posts.isAwaitingResponses
  }

  /**
   * Sends a message, and returns when the next one may be sent: a request must only be on its way, anything else must have
   * arrived. The first request of a session returns its refusal, if any, because there may be another way to say it.
   */
  async send(text: string, message: Message): Promise<RejectedMessage | undefined> {
    if (this.#posts.cancel(message)) return undefined
    if (isInitialize(message)) return this.#open(text, message)
    const post = { message, owed: new UnansweredIds(message), abort: new AbortController() }
    await new Promise<void>((mayGoOn) => {
      const onSent = message.kind === 'request' ? mayGoOn : undefined
      void this.#post(post, text, onSent).then(mayGoOn)
    })
    if (message.kind === 'notification' && message.method === 'notifications/initialized')
      void listenToServer(this.#stream(this.#stop.signal))
    return undefined
  }

  /** A client may show less of an error than people need to know. */
  reportRejection({ lines, words }: RejectedMessage): void {
    for (const line of lines) this.#context.toClient(line)
    if ((lines.length > 0 && words !== SESSION_LOST_MESSAGE) || this.#reported.has(words)) return
    this.#reported.add(words)
    this.#context.say(words)
  }

  /** Leaves what is under way and ends the session; may be called twice. */
  async close(): Promise<void> {
    const { state } = this.#session
    this.#stop.abort()
    this.#posts.abortAll()
    if (state.session === undefined) return
    this.#session.end()
    const signal = AbortSignal.timeout(DELETE_TIMEOUT_MS)
    await sendFollowingRedirects(this.#context, { method: 'DELETE', headers: sessionHeaders(state), signal })
      .then(readBodyText)
      .catch(() => {}) // a server may not know how, or be gone
  }

  async #post(post: PendingPost, text: string, onSent?: () => void): Promise<void> {
    const refusal = await this.#exchange(post, text, onSent)
    if (refusal !== undefined) this.reportRejection(refusal)
  }

  /** With its answer the session is there, also when the server leaves the stream of that answer open. */
  #open(text: string, message: Message): Promise<RejectedMessage | undefined> {
    return new Promise((resolve) => {
      const owed = new UnansweredIds(message, () => resolve(undefined))
      void this.#exchange({ message, owed, abort: new AbortController() }, text).then(resolve)
    })
  }

  async #exchange(
    post: PendingPost,
    body: string,
    onSent?: () => void,
  ): Promise<RejectedMessage | undefined> {
    const { message, owed, abort } = post
    this.#posts.add(post)
    const { signal } = abort
    const headers = this.#session.headersFor(message)
    try {
      const ask = { method: 'POST', headers, body, signal, ...(onSent && { onSent }) } as const
      return await this.#handleResponse(await sendFollowingRedirects(this.#context, ask), post)
    } catch (error) {
      if (signal.aborted) return undefined
      const why = error instanceof Error ? error.message : String(error)
      return rejectedWith(owed, STATUS_UNREACHABLE, `cannot reach ${this.#context.target.url.origin}: ${why}`)
    } finally {
      this.#posts.delete(post)
    }
  }

  async #handleResponse(answer: BridgeHttpResponse, post: PendingPost): Promise<RejectedMessage | undefined> {
    const { status, headers } = answer
    if (status < 200 || status > 299)
      return rejectionFrom(answer, post.owed, { ...this.#session.state, url: this.#context.target.url })
    const session = findHeader(headers, 'mcp-session-id')
    if (session !== undefined && isInitialize(post.message)) this.#session.begin(session)
    if (isEventStreamResponse(answer))
      await readResponseStream(answer, post.owed, this.#stream(post.abort.signal))
    else this.#deliver(await readBodyText(answer))
    if (post.owed.isSettled || post.abort.signal.aborted) return undefined
    return rejectedWith(post.owed, STATUS_UNREACHABLE, 'the server ended the exchange before it answered')
  }

  #stream(signal: AbortSignal): EventStreamOptions {
    return {
      ask: (resume) => {
        const headers = [...streamHeaders(this.#session.state), ...resume]
        return sendFollowingRedirects(this.#context, { method: 'GET', headers, signal })
      },
      onMessage: (text) => this.#deliver(text),
      signal,
    }
  }

  #deliver(text: string): void {
    if (text.trim() === '') return
    const value = parseJson(text)
    if (value === undefined)
      return this.#context.say('the server sent something that is no JSON; it is on the tape')
    const message = classifyMessage(value)
    for (const item of message.kind === 'batch' ? message.items : [message])
      if (item.kind === 'response') this.#settle(item)
    this.#context.toClient(asSingleLine(text))
  }

  #settle({ id, outcome }: Response): void {
    const message = id === null ? undefined : this.#posts.settle(id)
    if (message?.kind === 'request' && 'result' in outcome) this.#session.learn(message, outcome.result)
  }
}

function isInitialize(message: Message): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}
