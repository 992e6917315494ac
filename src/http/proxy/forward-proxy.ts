import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Socket, connect } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { HttpClient } from '../client/http-client.ts'
import { withHost } from '../headers.ts'
import { ProxiedExchange, type RequestLine, OpenExchanges } from './proxied-exchange.ts'
import type { ProxyWatcher } from './reverse-proxy.ts'
import { createHttpServer, listenOn, type ListenAddress } from '../server/listen.ts'
import { sendErrorResponse } from '../server/served-exchange.ts'

export interface ForwardProxyOptions {
  readonly listen: ListenAddress
  /** What we show to a client that wants to talk to this host over TLS; without it such talk passes untouched. */
  readonly contextFor?: (host: string) => Promise<SecureContext>
}

export interface ForwardProxyWatcher extends ProxyWatcher {
  /** TLS to this host passes through, and nobody can look on. */
  readonly tunnelled: (host: HostAndPort) => void
  /** A client left after it saw our certificate for this host. */
  readonly distrusted: (host: HostAndPort) => void
  readonly unreachable: (host: HostAndPort, why: string) => void
}

const TLS_HANDSHAKE = 0x16

/** A proxy whose clients name the server with each request, or with CONNECT. It goes nowhere that a client did not name. */
export class ForwardProxy {
  readonly #options: ForwardProxyOptions
  readonly #server: Server = createHttpServer()
  /** Never listens: it is given the sockets of clients that said CONNECT. */
  readonly #tunnelServer: Server = createHttpServer()
  readonly #exchanges = new OpenExchanges()
  readonly #client = new HttpClient()
  readonly #sockets = new Set<Socket>()
  readonly #origins = new WeakMap<Socket, string>()
  readonly #usedSockets = new WeakSet<Socket>()
  /** Clients that have not completed the TLS handshake yet, with what to report if they never do. */
  readonly #openHandshakes = new Map<Socket, () => void>()
  #closed: Promise<void> | undefined

  constructor(options: ForwardProxyOptions) {
    this.#options = options
  }

  /** Begins to listen, and says where; `begin` is called before the first request can come, and only when listening is possible. */
  async listen<Watcher extends ForwardProxyWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const origin = await listenOn(this.#server, this.#options.listen)
    const watcher = begin()
    this.#server.on('request', (req, res) => this.#forwardAbsolute(watcher, req, res))
    this.#server.on('connect', (req, socket, head) => this.#connect(watcher, req, socket as Socket, head))
    this.#tunnelServer.on('request', (req, res) => this.#forwardTunnelled(watcher, req, res))
    return { origin, watcher }
  }

  /** Ends open exchanges and tunnels and stops to listen; may be called twice. */
  close(): Promise<void> {
    // A client that refused the certificate and exited may not have been noticed yet.
    if (this.#closed === undefined) for (const report of this.#openHandshakes.values()) report()
    this.#closed ??= new Promise((resolve) => {
      this.#exchanges.stop()
      this.#server.close(() => resolve())
      // In the next round, so that the ends of streams are on their way.
      setImmediate(() => {
        this.#server.closeAllConnections()
        for (const socket of this.#sockets) socket.destroy()
      })
      this.#client.close()
    })
    return this.#closed
  }

  /** What is not addressed to a proxy may come from a web page that found our port. */
  #forwardAbsolute(watcher: ForwardProxyWatcher, req: IncomingMessage, res: ServerResponse): void {
    const named = parseAbsoluteTarget(req.url ?? '')
    if (named !== undefined) {
      const headers = withHost(req.rawHeaders, new URL(named.origin).host)
      return this.#forward(watcher, { ...named, headers }, req, res)
    }
    const why = 'this is a forward proxy: a request must name the whole URL'
    watcher.refused(why)
    req.resume()
    sendErrorResponse(res, 400, why)
  }

  #forwardTunnelled(watcher: ForwardProxyWatcher, req: IncomingMessage, res: ServerResponse): void {
    this.#usedSockets.add(req.socket)
    const origin = this.#origins.get(req.socket) ?? ''
    const path = parseAbsoluteTarget(req.url ?? '')?.path ?? req.url ?? '/'
    this.#forward(watcher, { origin, path, headers: req.rawHeaders }, req, res)
  }

  #forward(
    { watch }: ForwardProxyWatcher,
    named: Required<Omit<RequestLine, 'method'>>,
    req: IncomingMessage,
    res: ServerResponse,
  ): void {
    const line: RequestLine = { method: req.method ?? '', ...named }
    const upstream = {
      client: this.#client,
      url: new URL(named.origin),
      added: [],
      host: undefined,
      rewritesEndpoint: false,
    }
    this.#exchanges.start(new ProxiedExchange(upstream, line, watch(line)), req, res)
  }

  #connect(watcher: ForwardProxyWatcher, req: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#track(socket)
    const to = parseConnectTarget(req.url ?? '')
    if (to === undefined) {
      watcher.refused(`CONNECT ${req.url}`)
      return void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    peekFirstByte(socket, (byte) => {
      if (byte !== TLS_HANDSHAKE) return this.#serveTunnel(socket, `http://${to.authority}`)
      if (this.#options.contextFor !== undefined) return void this.#terminateTls(watcher, socket, to)
      watcher.tunnelled(to)
      this.#track(tunnelBytes(socket, to, (why) => watcher.unreachable(to, why)))
    })
  }

  async #terminateTls(watcher: ForwardProxyWatcher, socket: Socket, to: HostAndPort): Promise<void> {
    try {
      const context = await this.#options.contextFor!(to.host)
      const inside = terminateTls(socket, context)
      this.#openHandshakes.set(inside, () => watcher.distrusted(to))
      inside.on('secure', () => this.#openHandshakes.delete(inside))
      inside.on('close', () => {
        this.#openHandshakes.delete(inside)
        if (!this.#usedSockets.has(inside) && this.#closed === undefined) watcher.distrusted(to)
      })
      this.#serveTunnel(inside, `https://${to.authority}`)
    } catch {
      socket.destroy() // the client left meanwhile, or no certificate can name such a host
    }
  }

  #serveTunnel(socket: Socket, origin: string): void {
    this.#origins.set(socket, new URL(origin).origin)
    this.#tunnelServer.emit('connection', socket)
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}) // whoever left is noticed by the close
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

/** A host and a port, as CONNECT names them. */
export interface HostAndPort {
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Both, as a URL has them. */
  readonly authority: string
}

/** Reads what a client asks of a forward proxy: a whole URL. The path stays as it is spelled. */
export function parseAbsoluteTarget(target: string): { origin: string; path: string } | undefined {
  const found = /^https?:\/\/[^/?#]+([^#]*)/i.exec(target)
  if (found === null || !URL.canParse(target)) return undefined
  const path = found[1] ?? ''
  return { origin: new URL(target).origin, path: path.startsWith('/') ? path : `/${path}` }
}

/** Reads what follows CONNECT. */
export function parseConnectTarget(text: string): HostAndPort | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+):(\d{1,5})$/i.exec(text)
  if (found === null || !URL.canParse(`http://${text}`)) return undefined
  const port = Number(found[2])
  return port === 0 ? undefined : { host: found[1]!.replaceAll(/[[\]]/g, ''), port, authority: text }
}

/** Looks at the first byte that a client sends, and leaves it where it is. */
function peekFirstByte(socket: Socket, then: (byte: number) => void): void {
  const leave = (): void => void socket.end() // without a word
  const look = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    socket.off('readable', look).off('end', leave).unshift(chunk)
    then(chunk[0] ?? 0)
  }
  socket.on('readable', look).on('end', leave)
}

/** Hands everything on, both ways; either side may end its half first. */
function tunnelBytes(socket: Socket, { host, port }: HostAndPort, onError: (why: string) => void): Socket {
  const out = connect({ host, port, noDelay: true, allowHalfOpen: true })
  out.on('error', (error) => {
    if (out.bytesRead === 0) onError(error.message)
    socket.destroy()
  })
  socket.on('close', () => out.destroy())
  socket.pipe(out).pipe(socket)
  return out
}

/** Talks TLS to the client in the place of its server. */
function terminateTls(socket: Socket, secureContext: SecureContext): TLSSocket {
  const inside = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  inside.on('error', () => socket.destroy())
  return inside
}
