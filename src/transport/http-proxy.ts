import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ReelayError } from '../errors.ts'
import { Door } from './door.ts'
import { Passage, type ExchangeWatcher, type RequestLine } from './http-passage.ts'
import { ownAnswer } from './own-answer.ts'
import { MAX_HEAD_BYTES, openTarget, type Target } from './target.ts'

export interface ProxyOptions {
  readonly url: URL
  readonly listen: { readonly host: string; readonly port: number }
}

export interface ProxyWatcher {
  readonly watch: (request: RequestLine) => ExchangeWatcher
  readonly refused: (why: string) => void
}

/**
 * A reverse proxy that changes nothing: heads keep their spelling and order, bodies pass as they come. Nothing is ever
 * sent to the server twice, and when one side leaves, the other is told at once.
 */
export class HttpProxy {
  readonly #options: ProxyOptions
  readonly #target: Target
  readonly #server: Server
  readonly #door: Door
  // No Set: at this rate of coming and going it leaves old tables behind, and each keeps its exchanges until the next full collection.
  readonly #passages: Passage[] = []
  #closed: Promise<void> | undefined

  constructor(options: ProxyOptions) {
    this.#options = options
    this.#target = openTarget(options.url)
    this.#door = new Door(options.listen.host)
    this.#server = createServer({ ...LISTENER, maxHeaderSize: MAX_HEAD_BYTES })
    this.#server.requestTimeout = 0 // how long a request may take is for the server to say
  }

  /** Begins to listen, and says where; `begin` is called before the first request can come, and only when listening is possible. */
  async listen<Watcher extends ProxyWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const { host, port } = this.#options.listen
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => reject(cannotListen(host, port, error)))
      this.#server.listen(port, host, resolve)
    })
    const watcher = begin()
    this.#server.on('request', (req, res) => this.#pass(watcher, req, res))
    return { origin: this.#origin(), watcher }
  }

  #origin(): string {
    const address = this.#server.address()
    const { host, port } = this.#options.listen
    const name = host.includes(':') ? `[${host}]` : host
    return `http://${name}:${typeof address === 'object' ? address?.port : port}`
  }

  /** Ends open exchanges and stops to listen; may be called twice. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      for (const passage of this.#passages) passage.stop()
      this.#server.close(() => resolve())
      // In the next round, so that the ends of streams are on their way.
      setImmediate(() => this.#server.closeAllConnections())
      this.#target.close()
    })
    return this.#closed
  }

  #pass({ watch, refused }: ProxyWatcher, req: IncomingMessage, res: ServerResponse): void {
    const line = { method: req.method ?? '', path: pathOf(req.url ?? '/'), headers: req.rawHeaders }
    const why = this.#door.refusal(line.headers)
    if (why === undefined) return this.#letThrough(new Passage(this.#target, line, watch(line)), req, res)
    refused(why)
    req.resume()
    ownAnswer(res, 403, why)
  }

  #letThrough(passage: Passage, req: IncomingMessage, res: ServerResponse): void {
    passage.slot = this.#passages.push(passage) - 1
    res.on('close', () => this.#forget(passage))
    passage.run(req, res)
  }

  #forget({ slot }: Passage): void {
    const last = this.#passages.pop()
    if (last === undefined || last.slot === slot) return
    this.#passages[slot] = last
    last.slot = slot
  }
}

const LISTENER = { keepAlive: true, noDelay: true, keepAliveTimeout: 65_000 } as const

/** A client may name the whole URL, as it would to a forward proxy. */
function pathOf(target: string): string {
  if (target.startsWith('/') || !URL.canParse(target)) return target
  const { pathname, search } = new URL(target)
  return pathname + search
}

function cannotListen(host: string, port: number, cause: Error): ReelayError {
  const hint = 'choose another port with --listen, or leave it out to get a free one'
  return new ReelayError('LISTEN_FAILED', `cannot listen on ${host}:${port}: ${cause.message}`, {
    hint,
    cause,
  })
}
