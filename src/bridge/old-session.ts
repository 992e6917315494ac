import { idKey, type Id } from '../wire/id.ts'
import { classify, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { onOneLine, type BridgeEnds } from './bridge-ends.ts'
import { isEventStream, sendAsk, textOf, type Answer } from './http-ask.ts'
import { messageHeaders, streamHeaders } from './message-headers.ts'
import { Owed } from './owed.ts'
import { ownError, statusInWords, UNREACHABLE } from './own-error.ts'
import { ParamHeaders } from './param-headers.ts'
import { readEvents } from './read-events.ts'

const ENDPOINT_MS = 10_000
const NOTHING_AGREED = { session: undefined, version: undefined }

/** A client's side of HTTP+SSE of 2024-11-05: one stream brings everything, and names where messages are to be posted. */
export class OldSession {
  readonly #ends: BridgeEnds
  readonly #stop = new AbortController()
  readonly #owed = new Map<string, Id>()
  #endpoint: URL | undefined
  #isOver = false

  constructor(ends: BridgeEnds) {
    this.#ends = ends
  }

  get isOwing(): boolean {
    return this.#owed.size > 0
  }

  /** Opens the stream; says whether it is one of these. */
  async open(): Promise<boolean> {
    const { target } = this.#ends
    const ask = { method: 'GET', path: target.url.pathname + target.url.search } as const
    const answer = await sendAsk(this.#ends, {
      ...ask,
      headers: streamHeaders(NOTHING_AGREED),
      signal: this.#stop.signal,
    }).catch(() => undefined)
    if (answer === undefined) return false
    if (answer.status === 200 && isEventStream(answer)) return this.#untilEndpoint(answer)
    await textOf(answer).catch(() => '')
    return false
  }

  async send(body: string, message: Message): Promise<void> {
    const owed = new Owed(message)
    if (this.#isOver || this.#endpoint === undefined) return this.#refuse(owed.ids, UNREACHABLE, STREAM_ENDED)
    for (const id of owed.ids) this.#owed.set(idKey(id), id)
    const { pathname, search } = this.#endpoint
    const headers = messageHeaders(message, NOTHING_AGREED, new ParamHeaders())
    try {
      const { signal } = this.#stop
      const answer = await sendAsk(this.#ends, {
        method: 'POST',
        path: pathname + search,
        headers,
        body,
        signal,
      })
      await textOf(answer)
      if (answer.status > 299)
        this.#refuse(owed.ids, answer.status, statusInWords(answer.status, this.#endpoint))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      if (!this.#stop.signal.aborted) this.#refuse(owed.ids, UNREACHABLE, `cannot reach the server: ${why}`)
    }
  }

  close(): Promise<void> {
    this.#stop.abort()
    return Promise.resolve()
  }

  async #untilEndpoint(answer: Answer): Promise<boolean> {
    const onMessage = (text: string): void => this.#deliver(text)
    const isNamed = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ENDPOINT_MS)
      const onOther = (event: string, data: string): void => {
        if (event !== 'endpoint') return
        clearTimeout(timer)
        resolve(this.#name(data))
      }
      const over = (): void => {
        clearTimeout(timer)
        this.#over()
        resolve(false)
      }
      readEvents(answer, { onMessage, onOther }, {}).then(over, over)
    })
    if (!isNamed) this.#stop.abort()
    return isNamed
  }

  /** An endpoint elsewhere is not trusted: our headers would go along. */
  #name(data: string): boolean {
    const { url } = this.#ends.target
    const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined
    if (endpoint?.origin !== url.origin) return false
    this.#endpoint = endpoint
    return true
  }

  #deliver(text: string): void {
    const message = classify(parseJson(text))
    if (message.kind === 'response' && message.id !== null) this.#owed.delete(idKey(message.id))
    if (parseJson(text) !== undefined) this.#ends.toClient(onOneLine(text))
  }

  #over(): void {
    this.#isOver = true
    if (!this.#stop.signal.aborted) this.#refuse([...this.#owed.values()], UNREACHABLE, STREAM_ENDED)
  }

  #refuse(ids: readonly Id[], status: number, words: string): void {
    for (const id of ids) {
      this.#owed.delete(idKey(id))
      this.#ends.toClient(ownError(id, status, words))
    }
    if (ids.length === 0) this.#ends.say(words)
  }
}

const STREAM_ENDED = 'the server ended its stream, and with it the session: restart the server in the client'
