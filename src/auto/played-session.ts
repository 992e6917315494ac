import type { Drift } from '../serve/drift.ts'
import { Player, type PlayerOptions } from '../serve/player.ts'
import { Rests } from '../serve/rests.ts'
import { idKey, isId } from '../wire/id.ts'
import { classify, member, type Message, type Request } from '../wire/message.ts'
import { META, metaOf } from '../wire/methods.ts'
import { parseJson } from '../wire/parse-json.ts'
import { SseStream } from './sse-stream.ts'

/** One client of a played server over HTTP: each answer leaves by the stream that waits for it. */
export class PlayedSession {
  readonly #player: Player
  /** By the id of the request, the newest last. */
  readonly #streams = new Map<string, SseStream>()
  readonly #tokens = new Map<unknown, SseStream>()
  readonly #waiting: string[] = []
  #standing: SseStream | undefined

  constructor(options: Omit<PlayerOptions, 'send' | 'later'>) {
    const send = (text: string): void => this.#send(text)
    this.#player = new Player({ ...options, send, later: new Rests().later })
    this.#player.start()
  }

  drift(): Drift {
    return this.#player.drift()
  }

  /** Everything leaves by this one stream, as in the legacy SSE transport. */
  stand(stream: SseStream): void {
    this.#standing = stream
    this.#sendWaiting(stream)
  }

  /** Takes a message; the answer to a request comes by the stream that is returned, or by the standing one. */
  post(text: string, message: Message, signal: AbortSignal | null | undefined): SseStream | undefined {
    setImmediate(() => this.#player.receive(text))
    return message.kind === 'request' && this.#standing === undefined
      ? this.#open(message, signal)
      : undefined
  }

  #open({ id, params }: Request, signal: AbortSignal | null | undefined): SseStream {
    const stream = new SseStream(signal)
    this.#streams.set(idKey(id), stream)
    for (const [token, { isOpen }] of this.#tokens) if (!isOpen) this.#tokens.delete(token)
    const token = metaOf(params, META.progressToken)
    if (token !== undefined) this.#tokens.set(token, stream)
    this.#sendWaiting(stream)
    return stream
  }

  #send(text: string): void {
    const message = classify(parseJson(text))
    const key = message.kind === 'response' && message.id !== null ? idKey(message.id) : ''
    const own = this.#streams.get(key)
    const stream = own ?? this.#streamFor(message)
    if (stream === undefined) return void this.#waiting.push(text)
    stream.event(text)
    if (own === undefined) return
    own.end()
    this.#streams.delete(key)
  }

  /** Progress and subscriptions name their request; what names none, or one that is over, goes with the newest. */
  #streamFor(message: Message): SseStream | undefined {
    const params = message.kind === 'notification' ? message.params : undefined
    const subscription = metaOf(params, META.subscriptionId)
    const named = [
      this.#standing,
      isId(subscription) ? this.#streams.get(idKey(subscription)) : undefined,
      this.#tokens.get(member(params, META.progressToken)),
    ]
    return named.find((stream) => stream?.isOpen === true) ?? this.#newest()
  }

  #newest(): SseStream | undefined {
    return [...this.#streams.values()].findLast(({ isOpen }) => isOpen)
  }

  #sendWaiting(stream: SseStream): void {
    for (const text of this.#waiting.splice(0)) stream.event(text)
  }
}
