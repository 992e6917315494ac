import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { withHost } from './http-heads.ts'
import { Passage, type RequestLine } from './http-passage.ts'
import type { ProxyWatcher } from './http-proxy.ts'
import { createListener, listenOn, type Listen } from './listen.ts'
import { ownAnswer } from './own-answer.ts'
import { Passages } from './passages.ts'
import { readAuthority, readNamed, type Authority } from './request-target.ts'
import { openTarget, type Target } from './target.ts'
import { firstByte, relayUntouched, terminate } from './tunnel.ts'

export interface ForwardOptions {
  readonly listen: Listen
  /** What we show to a client that wants to talk to this host over TLS; without it such talk passes untouched. */
  readonly contextFor?: (host: string) => Promise<SecureContext>
}

export interface ForwardWatcher extends ProxyWatcher {
  /** TLS to this host passes through, and nobody can look on. */
  readonly tunnelled: (host: Authority) => void
  /** A client left after it saw our certificate for this host. */
  readonly distrusted: (host: Authority) => void
  readonly unreachable: (host: Authority, why: string) => void
}

const TLS_HANDSHAKE = 0x16

/** A proxy whose clients name the server with each request, or with CONNECT. It goes nowhere that a client did not name. */
export class ForwardProxy {
  readonly #options: ForwardOptions
  readonly #outer: Server = createListener()
  /** Never listens: it is given the sockets of clients that said CONNECT. */
  readonly #inner: Server = createListener()
  readonly #passages = new Passages()
  readonly #targets = new Map<string, Target>()
  readonly #sockets = new Set<Socket>()
  readonly #origins = new WeakMap<Socket, string>()
  readonly #spoken = new WeakSet<Socket>()
  #closed: Promise<void> | undefined

  constructor(options: ForwardOptions) {
    this.#options = options
  }

  /** Begins to listen, and says where; `begin` is called before the first request can come, and only when listening is possible. */
  async listen<Watcher extends ForwardWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const origin = await listenOn(this.#outer, this.#options.listen)
    const watcher = begin()
    this.#outer.on('request', (req, res) => this.#passNamed(watcher, req, res))
    this.#outer.on('connect', (req, socket, head) => this.#connect(watcher, req, socket as Socket, head))
    this.#inner.on('request', (req, res) => this.#passInside(watcher, req, res))
    return { origin, watcher }
  }

  /** Ends open exchanges and tunnels and stops to listen; may be called twice. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#passages.stop()
      this.#outer.close(() => resolve())
      // In the next round, so that the ends of streams are on their way.
      setImmediate(() => {
        this.#outer.closeAllConnections()
        for (const socket of this.#sockets) socket.destroy()
      })
      for (const target of this.#targets.values()) target.close()
    })
    return this.#closed
  }

  /** What is not addressed to a proxy may come from a web page that found our port. */
  #passNamed(watcher: ForwardWatcher, req: IncomingMessage, res: ServerResponse): void {
    const named = readNamed(req.url ?? '')
    if (named !== undefined) {
      const headers = withHost(req.rawHeaders, new URL(named.origin).host)
      return this.#pass(watcher, { ...named, headers }, req, res)
    }
    const why = 'this is a forward proxy: a request must name the whole URL'
    watcher.refused(why)
    req.resume()
    ownAnswer(res, 400, why)
  }

  #passInside(watcher: ForwardWatcher, req: IncomingMessage, res: ServerResponse): void {
    this.#spoken.add(req.socket)
    const origin = this.#origins.get(req.socket) ?? ''
    const path = readNamed(req.url ?? '')?.path ?? req.url ?? '/'
    this.#pass(watcher, { origin, path, headers: req.rawHeaders }, req, res)
  }

  #pass(
    { watch }: ForwardWatcher,
    named: Required<Omit<RequestLine, 'method'>>,
    req: IncomingMessage,
    res: ServerResponse,
  ): void {
    const line: RequestLine = { method: req.method ?? '', ...named }
    this.#passages.letThrough(new Passage(this.#target(named.origin), line, watch(line)), req, res)
  }

  #target(origin: string): Target {
    const target = this.#targets.get(origin) ?? openTarget(new URL(origin), { isNamed: true })
    this.#targets.set(origin, target)
    return target
  }

  #connect(watcher: ForwardWatcher, req: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#keep(socket)
    const to = readAuthority(req.url ?? '')
    if (to === undefined) {
      watcher.refused(`CONNECT ${req.url}`)
      return void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    firstByte(socket, (byte) => {
      if (byte !== TLS_HANDSHAKE) return this.#inside(socket, `http://${to.authority}`)
      if (this.#options.contextFor !== undefined) return void this.#unwrap(watcher, socket, to)
      watcher.tunnelled(to)
      this.#keep(relayUntouched(socket, to, (why) => watcher.unreachable(to, why)))
    })
  }

  async #unwrap(watcher: ForwardWatcher, socket: Socket, to: Authority): Promise<void> {
    try {
      const context = await this.#options.contextFor!(to.host)
      const inside = terminate(socket, context)
      inside.on('close', () => {
        if (!this.#spoken.has(inside) && this.#closed === undefined) watcher.distrusted(to)
      })
      this.#inside(inside, `https://${to.authority}`)
    } catch {
      socket.destroy() // the client left meanwhile, or no certificate can name such a host
    }
  }

  #inside(socket: Socket, origin: string): void {
    this.#origins.set(socket, new URL(origin).origin)
    this.#inner.emit('connection', socket)
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}) // whoever left is noticed by the close
    socket.on('close', () => this.#sockets.delete(socket))
  }
}
