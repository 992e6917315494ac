import { setMaxListeners } from 'node:events'
import { sseEventText } from '../serve/http/sse-writer.ts'

const KEEP_ALIVE_MS = 2 ** 30
/** A client has one signal for all that is under way. */
const MAX_LISTENERS = 1500

/** A stream of server-sent events that a played server answers with. */
export class SseResponseStream {
  readonly #body: ReadableStream<Uint8Array>
  readonly #signal: AbortSignal | null | undefined
  /** A program waits for an answer that is on its way over a socket; without one, it would have nothing to wait for. */
  readonly #open = setInterval(() => {}, KEEP_ALIVE_MS)
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(signal: AbortSignal | null | undefined) {
    this.#signal = signal
    this.#body = new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#leave(),
    })
    if (!signal) return
    setMaxListeners(MAX_LISTENERS, signal)
    signal.addEventListener('abort', this.#abort)
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /** The answer that carries the stream. */
  response(headers: Readonly<Record<string, string>>): Response {
    return new Response(this.#body, { headers: { 'content-type': 'text/event-stream', ...headers } })
  }

  write(data: string, event = 'message'): void {
    this.#controller?.enqueue(Buffer.from(sseEventText(data, { event })))
  }

  end(): void {
    this.#controller?.close()
    this.#leave()
  }

  readonly #abort = (): void => {
    this.#controller?.error(this.#signal?.reason)
    this.#leave()
  }

  #leave(): void {
    this.#controller = undefined
    this.#signal?.removeEventListener('abort', this.#abort)
    clearInterval(this.#open)
  }
}
