const LONG = 2 ** 30

/** A stream of server-sent events that a played server answers with. */
export class SseStream {
  readonly #body: ReadableStream<Uint8Array>
  /** A program waits for an answer that is on its way over a socket; without one, it would have nothing to wait for. */
  readonly #open = setInterval(() => {}, LONG)
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(signal: AbortSignal | null | undefined) {
    this.#body = new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#leave(),
    })
    signal?.addEventListener('abort', () => {
      this.#controller?.error(signal.reason)
      this.#leave()
    })
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /** The answer that carries the stream. */
  response(headers: Readonly<Record<string, string>>): Response {
    return new Response(this.#body, { headers: { 'content-type': 'text/event-stream', ...headers } })
  }

  event(data: string, event = 'message'): void {
    this.#controller?.enqueue(Buffer.from(`event: ${event}\ndata: ${data}\n\n`))
  }

  end(): void {
    this.#controller?.close()
    this.#leave()
  }

  #leave(): void {
    this.#controller = undefined
    clearInterval(this.#open)
  }
}
