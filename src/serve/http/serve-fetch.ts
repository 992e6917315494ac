import { EventEmitter, setMaxListeners } from 'node:events'
import type { ServedHandler, ServedRequest, ServedResponse } from '../../http/server/http-server.ts'
import type { ServedRecording } from './served-recording.ts'
import { SseEndpoint } from './sse-endpoint.ts'
import { StreamableEndpoint } from './streamable-endpoint.ts'

type ServeFetch = (target: string | URL, init?: RequestInit) => Promise<Response>

/**
 * Returns a `fetch` that answers the requests to one URL from a tape. The rules are those of `reelay serve --http` and `--sse`,
 * but no socket is opened. `find` looks for the server on the tape; if it fails, every fetch fails.
 */
export function serveFetch(endpoint: URL, find: () => Promise<ServedRecording>): ServeFetch {
  let handler: Promise<ServedHandler> | undefined
  return async (target, init = {}) => {
    init.signal?.throwIfAborted()
    handler ??= find().then((recording) => serveRequests(recording, endpoint.pathname))
    const handle = await handler
    init.signal?.throwIfAborted()
    const response = new InProcessResponse(init.signal)
    handle(servedRequest(target, init), response)
    return response.started
  }
}

/**
 * Returns the handler for the requests to one URL. Both transports have the same URL here. A client of HTTP+SSE never has a session header, and its messages do not accept a
 * stream, which every POST of Streamable HTTP has to. The AI SDK names a version in every request, and opens a stream before
 * its session begins: the tape shows which transport it means.
 */
export function serveRequests(recording: ServedRecording, path: string): ServedHandler {
  const streamable = new StreamableEndpoint(recording)
  const sse = new SseEndpoint(recording, path)
  return (req, res) => {
    const mayBeSse = recording.legacy !== undefined && req.headers['mcp-session-id'] === undefined
    const isEarlyGet =
      recording.heads.namesMessagePath === false && req.headers['mcp-protocol-version'] !== undefined
    if (mayBeSse && req.method === 'GET' && !isEarlyGet) sse.handleStream(req, res)
    else if (mayBeSse && req.method === 'POST' && !acceptsStream(req)) sse.handleMessages(req, res)
    else streamable.handle(req, res)
  }
}

function acceptsStream({ headers }: ServedRequest): boolean {
  return headers.accept?.includes('text/event-stream') === true
}

/** Returns the request that Node's `fetch` would send. */
function servedRequest(target: string | URL, init: RequestInit): ServedRequest {
  const { method, url, headers } = new Request(target, { ...init, signal: null })
  const { pathname, search } = new URL(url)
  return {
    method,
    url: pathname + search,
    headers: Object.fromEntries(headers),
    rawHeaders: [...headers].flat(),
    body: Buffer.from(typeof init.body === 'string' ? init.body : ''),
  }
}

const KEEP_ALIVE_MS = 2 ** 30
/** A client may have one signal for all its requests. */
const MAX_LISTENERS = 1500
const BUFFERED_BYTES = 64 * 1024

/** The response to a request of this process. What is written is read from the body of a `fetch` response. */
class InProcessResponse extends EventEmitter<{ close: []; drain: [] }> implements ServedResponse {
  /** Resolves when the head has been written. */
  readonly started: Promise<Response>
  destroyed = false
  headersSent = false
  writableEnded = false
  readonly #body: ReadableStream<Uint8Array>
  readonly #signal: AbortSignal | null | undefined
  /** An open socket would keep the program running until the response has ended. */
  readonly #keepAlive = setInterval(() => {}, KEEP_ALIVE_MS)
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #resolve!: (response: Response) => void
  #reject!: (reason: unknown) => void

  constructor(signal: AbortSignal | null | undefined) {
    super()
    this.started = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => void this.emit('drain'),
        cancel: () => this.#close(),
      },
      { highWaterMark: BUFFERED_BYTES, size: (bytes) => bytes?.length ?? 0 },
    )
    this.#signal = signal
    if (!signal) return
    setMaxListeners(MAX_LISTENERS, signal)
    signal.addEventListener('abort', this.#abort)
  }

  get writableNeedDrain(): boolean {
    return (this.#controller.desiredSize ?? 1) <= 0
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>> = {}): this {
    const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    this.headersSent = true
    this.#resolve(new Response(this.#body, { status, headers: entries }))
    return this
  }

  /** The head needs no flushing: `writeHead` passes it on at once. */
  flushHeaders(): void {}

  write(text: string): boolean {
    if (!this.destroyed && !this.writableEnded) this.#controller.enqueue(Buffer.from(text))
    return !this.writableNeedDrain
  }

  end(text = ''): void {
    if (this.destroyed || this.writableEnded) return
    if (text !== '') this.write(text)
    this.writableEnded = true
    this.#controller.close()
    queueMicrotask(() => this.#close())
  }

  destroy(reason: unknown = new TypeError('terminated')): void {
    if (this.destroyed) return
    this.#reject(reason)
    if (!this.writableEnded) this.#controller.error(reason)
    this.#close()
  }

  readonly #abort = (): void => this.destroy(this.#signal?.reason)

  #close(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.#signal?.removeEventListener('abort', this.#abort)
    clearInterval(this.#keepAlive)
    this.emit('close')
  }
}
