import type { Drift } from '../serve/drift.ts'
import type { ReplyChannel } from '../serve/player/reply-channel.ts'
import { SessionPlayer, type SessionPlayerOptions } from '../serve/player/session-player.ts'
import { ClientPauses } from '../serve/rests.ts'
import type { Message } from '../protocol/message.ts'
import { SseResponseStream } from './sse-stream.ts'

/** One client of a played server over HTTP: each answer leaves by the stream that waits for it. */
export class RecordedEndpointSession {
  readonly #player: SessionPlayer
  /** Those that wait for an answer, the newest last. */
  readonly #streams = new Set<SseResponseStream>()
  readonly #waiting: string[] = []
  #standing: SseResponseStream | undefined

  constructor(options: Omit<SessionPlayerOptions, 'send' | 'later'>) {
    this.#player = new SessionPlayer({ ...options, send: this.#send, later: new ClientPauses().later })
    this.#player.start()
  }

  drift(): Drift {
    return this.#player.drift()
  }

  /** Everything leaves by this one stream, as in the legacy SSE transport. */
  useStandingStream(stream: SseResponseStream): void {
    this.#standing = stream
    this.#sendWaiting(stream)
  }

  /** Takes a message; the answer to a request comes by the stream that is returned, or by the standing one. */
  post(
    text: string,
    message: Message,
    signal: AbortSignal | null | undefined,
  ): SseResponseStream | undefined {
    const isAnsweredHere = message.kind === 'request' && this.#standing === undefined
    const stream = isAnsweredHere ? this.#open(signal) : undefined
    setImmediate(() => this.#player.handle(text, message, stream && this.#outletOf(stream)))
    return stream
  }

  #open(signal: AbortSignal | null | undefined): SseResponseStream {
    const stream = new SseResponseStream(signal)
    this.#streams.add(stream)
    this.#sendWaiting(stream)
    return stream
  }

  #outletOf(stream: SseResponseStream): ReplyChannel {
    return {
      scope: '',
      send: (text) => (stream.isOpen ? stream.write(text) : this.#send(text)),
      reply: (text) => {
        if (text === undefined) return
        this.#streams.delete(stream)
        stream.write(text)
        stream.end()
      },
    }
  }

  /** What belongs to no request, or to one that is over, goes with the newest. */
  readonly #send = (text: string): void => {
    const open = [...this.#streams].filter(({ isOpen }) => isOpen)
    const stream = this.#standing ?? open.at(-1)
    if (stream === undefined) this.#waiting.push(text)
    else stream.write(text)
  }

  #sendWaiting(stream: SseResponseStream): void {
    for (const text of this.#waiting.splice(0)) stream.write(text)
  }
}
