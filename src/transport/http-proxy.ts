import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Door } from './door.ts'
import { Passage, type ExchangeWatcher, type RequestLine } from './http-passage.ts'
import { LISTENER, listenOn, type Listen } from './listen.ts'
import { ownAnswer } from './own-answer.ts'
import type { OwnHeader } from './own-headers.ts'
import { Passages } from './passages.ts'
import { MAX_HEAD_BYTES, openTarget, type Target } from './target.ts'

export interface ProxyOptions {
  readonly url: URL
  readonly listen: Listen
  readonly own?: readonly OwnHeader[]
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
  readonly #passages = new Passages()
  #closed: Promise<void> | undefined

  constructor(options: ProxyOptions) {
    this.#options = options
    this.#target = openTarget(options.url, options.own && { own: options.own })
    this.#door = new Door(options.listen.host)
    this.#server = createServer({ ...LISTENER, maxHeaderSize: MAX_HEAD_BYTES })
    this.#server.requestTimeout = 0 // how long a request may take is for the server to say
  }

  /** Begins to listen, and says where; `begin` is called before the first request can come, and only when listening is possible. */
  async listen<Watcher extends ProxyWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const origin = await listenOn(this.#server, this.#options.listen)
    const watcher = begin()
    this.#server.on('request', (req, res) => this.#pass(watcher, req, res))
    return { origin, watcher }
  }

  /** Ends open exchanges and stops to listen; may be called twice. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#passages.stop()
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
    if (why === undefined)
      return this.#passages.letThrough(new Passage(this.#target, line, watch(line)), req, res)
    refused(why)
    req.resume()
    ownAnswer(res, 403, why)
  }
}

/** A client may name the whole URL, as it would to a forward proxy. */
function pathOf(target: string): string {
  if (target.startsWith('/') || !URL.canParse(target)) return target
  const { pathname, search } = new URL(target)
  return pathname + search
}
