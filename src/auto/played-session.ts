import type { Drift } from '../serve/drift.ts'
import type { Outlet } from '../serve/outlet.ts'
import { Player, type PlayerOptions } from '../serve/player.ts'
import { Rests } from '../serve/rests.ts'
import type { Message } from '../wire/message.ts'
import { SseStream } from './sse-stream.ts'

/** One client of a played server over HTTP: each answer leaves by the stream that waits for it. */
export class PlayedSession {
  readonly #player: Player
  /** Those that wait for an answer, the newest last. */
  readonly #streams = new Set<SseStream>()
  readonly #waiting: string[] = []
  #standing: SseStream | undefined

  constructor(options: Omit<PlayerOptions, 'send' | 'later'>) {
    this.#player = new Player({ ...options, send: this.#send, later: new Rests().later })
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
    const isAnsweredHere = message.kind === 'request' && this.#standing === undefined
    const stream = isAnsweredHere ? this.#open(signal) : undefined
    setImmediate(() => this.#player.take(text, message, stream && this.#outletOf(stream)))
    return stream
  }

  #open(signal: AbortSignal | null | undefined): SseStream {
    const stream = new SseStream(signal)
    this.#streams.add(stream)
    this.#sendWaiting(stream)
    return stream
  }

  #outletOf(stream: SseStream): Outlet {
    return {
      scope: '',
      send: (text) => (stream.isOpen ? stream.event(text) : this.#send(text)),
      reply: (text) => {
        if (text === undefined) return
        this.#streams.delete(stream)
        stream.event(text)
        stream.end()
      },
    }
  }

  /** What belongs to no request, or to one that is over, goes with the newest. */
  readonly #send = (text: string): void => {
    const open = [...this.#streams].filter(({ isOpen }) => isOpen)
    const stream = this.#standing ?? open.at(-1)
    if (stream === undefined) this.#waiting.push(text)
    else stream.event(text)
  }

  #sendWaiting(stream: SseStream): void {
    for (const text of this.#waiting.splice(0)) stream.event(text)
  }
}
