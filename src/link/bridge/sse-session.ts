import { idKey, type Id } from '../../protocol/id.ts'
import { classifyMessage, type Message } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import {
  asSingleLine,
  type BridgeContext,
  isEventStreamResponse,
  sendBridgeRequest,
  readBodyText,
  type BridgeHttpResponse,
} from './http-requests.ts'
import { headersForMessage, streamHeaders, ToolParamHeaders } from './request-headers.ts'
import { UnansweredIds } from './pending-posts.ts'
import { bridgeErrorResponse, describeStatus, STATUS_UNREACHABLE } from './rejections.ts'
import { readEventStream } from './event-streams.ts'

const ENDPOINT_MS = 10_000
const NO_SESSION = { session: undefined, version: undefined }

/** A client's side of HTTP+SSE of 2024-11-05: one stream brings everything, and names where messages are to be posted. */
export class BridgeSseSession {
  readonly #context: BridgeContext
  readonly #stop = new AbortController()
  readonly #unanswered = new Map<string, Id>()
  #endpoint: URL | undefined
  #isEnded = false

  constructor(ends: BridgeContext) {
    this.#context = ends
  }

  get isAwaitingResponses(): boolean {
    return this.#unanswered.size > 0
  }

  /** Opens the stream; says whether it is one of these. */
  async open(): Promise<boolean> {
    const { target } = this.#context
    const ask = { method: 'GET', path: target.url.pathname + target.url.search } as const
    const answer = await sendBridgeRequest(this.#context, {
      ...ask,
      headers: streamHeaders(NO_SESSION),
      signal: this.#stop.signal,
    }).catch(() => undefined)
    if (answer === undefined) return false
    if (answer.status === 200 && isEventStreamResponse(answer)) return this.#waitForEndpoint(answer)
    await readBodyText(answer).catch(() => '')
    return false
  }

  async send(body: string, message: Message): Promise<void> {
    const owed = new UnansweredIds(message)
    if (this.#isEnded || this.#endpoint === undefined)
      return this.#reject(owed.ids, STATUS_UNREACHABLE, STREAM_ENDED)
    for (const id of owed.ids) this.#unanswered.set(idKey(id), id)
    const { pathname, search } = this.#endpoint
    const headers = headersForMessage(message, NO_SESSION, new ToolParamHeaders())
    try {
      const { signal } = this.#stop
      const answer = await sendBridgeRequest(this.#context, {
        method: 'POST',
        path: pathname + search,
        headers,
        body,
        signal,
      })
      await readBodyText(answer)
      if (answer.status > 299)
        this.#reject(owed.ids, answer.status, describeStatus(answer.status, this.#endpoint))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      if (!this.#stop.signal.aborted)
        this.#reject(owed.ids, STATUS_UNREACHABLE, `cannot reach the server: ${why}`)
    }
  }

  close(): Promise<void> {
    this.#stop.abort()
    return Promise.resolve()
  }

  async #waitForEndpoint(answer: BridgeHttpResponse): Promise<boolean> {
    const onMessage = (text: string): void => this.#deliver(text)
    const isNamed = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ENDPOINT_MS)
      const onOther = (event: string, data: string): void => {
        if (event !== 'endpoint') return
        clearTimeout(timer)
        resolve(this.#setEndpoint(data))
      }
      const over = (): void => {
        clearTimeout(timer)
        this.#onStreamEnd()
        resolve(false)
      }
      readEventStream(answer, { onMessage, onOther }, {}).then(over, over)
    })
    if (!isNamed) this.#stop.abort()
    return isNamed
  }

  /** An endpoint elsewhere is not trusted: our headers would go along. */
  #setEndpoint(data: string): boolean {
    const { url } = this.#context.target
    const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined
    if (endpoint?.origin !== url.origin) return false
    this.#endpoint = endpoint
    return true
  }

  #deliver(text: string): void {
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'response' && message.id !== null) this.#unanswered.delete(idKey(message.id))
    if (parseJson(text) !== undefined) this.#context.toClient(asSingleLine(text))
  }

  #onStreamEnd(): void {
    this.#isEnded = true
    if (!this.#stop.signal.aborted)
      this.#reject([...this.#unanswered.values()], STATUS_UNREACHABLE, STREAM_ENDED)
  }

  #reject(ids: readonly Id[], status: number, words: string): void {
    for (const id of ids) {
      this.#unanswered.delete(idKey(id))
      this.#context.toClient(bridgeErrorResponse(id, status, words))
    }
    if (ids.length === 0) this.#context.say(words)
  }
}

const STREAM_ENDED = 'the server ended its stream, and with it the session: restart the server in the client'
