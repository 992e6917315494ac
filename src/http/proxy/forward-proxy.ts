import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Socket, connect } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { HttpClient } from '../client/http-client.ts'
import { type RawHeaders, withHost } from '../headers.ts'
import { parseAbsoluteTarget } from '../hosts.ts'
import { OpenExchanges, ProxiedExchange, type ProxyWatcher, type RequestLine } from './proxied-exchange.ts'
import {
  createHttpServer,
  handleRequests,
  headProblem,
  listenOn,
  type ListenAddress,
  sendErrorResponse,
} from '../server/http-server.ts'

export interface ForwardProxyOptions {
  readonly listen: ListenAddress
  /** Every request to the proxy must have them, because any program of this machine can connect to it. */
  readonly credentials: ProxyCredentials
  /** Returns the certificate for a host, to decrypt TLS. Without a certificate TLS is forwarded unread. */
  readonly contextFor?: ((host: string) => Promise<SecureContext> | undefined) | undefined
  /** Answers requests in place of the servers that they name. It calls `forward` for those that it does not answer. */
  readonly answer?: ProxyAnswer
}

export type ProxyAnswer = (
  line: Required<RequestLine>,
  exchange: { readonly req: IncomingMessage; readonly res: ServerResponse },
  forward: () => void,
) => void

export interface ProxyCredentials {
  readonly user: string
  readonly password: string
}

/** Creates the credentials of a proxy. `secrets` are the forms in which a program could repeat them. */
export function newProxyCredentials(): ProxyCredentials & { readonly secrets: readonly string[] } {
  const [user, password] = ['reelay', randomBytes(24).toString('base64url')]
  return { user, password, secrets: [password, Buffer.from(`${user}:${password}`).toString('base64')] }
}

/** Returns the URL of a proxy for its clients. */
export function proxyUrl(origin: string, { user, password }: ProxyCredentials): string {
  return origin.replace('://', `://${user}:${password}@`)
}

export interface ForwardProxyWatcher extends ProxyWatcher {
  /** TLS to this host is forwarded unread. */
  readonly tunnelled: (host: HostAndPort) => void
  /** A client disconnected after it got our certificate for this host. */
  readonly distrusted: (host: HostAndPort) => void
  readonly unreachable: (host: HostAndPort, why: string) => void
  /** A request without the credentials of the proxy was rejected. */
  readonly unauthorized: () => void
}

const TLS_HANDSHAKE = 0x16
/** How long a client may wait after CONNECT before it sends the first byte. */
const FIRST_BYTE_MS = 60_000

/** A proxy whose clients name the server with each request, or with CONNECT. It connects only to servers that a client named. */
export class ForwardProxy {
  readonly #options: ForwardProxyOptions
  readonly #server: Server = createHttpServer()
  /** Does not listen. It gets the sockets of clients that sent CONNECT. */
  readonly #tunnelServer: Server = createHttpServer()
  readonly #exchanges = new OpenExchanges()
  readonly #client = new HttpClient()
  readonly #sockets = new Set<Socket>()
  readonly #origins = new WeakMap<Socket, string>()
  readonly #usedSockets = new WeakSet<Socket>()
  /** Clients that have not completed the TLS handshake yet, with a function that reports the ones that never do. */
  readonly #openHandshakes = new Map<Socket, () => void>()
  #closed: Promise<void> | undefined

  constructor(options: ForwardProxyOptions) {
    this.#options = options
  }

  /** Starts to listen. `begin` is called only if that succeeds, and before the first request can arrive. */
  async listen<Watcher extends ForwardProxyWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const origin = await listenOn(this.#server, this.#options.listen)
    const watcher = begin()
    handleRequests(this.#server, (req, res) => this.#forwardAbsolute(watcher, req, res), watcher.refused)
    this.#server.on('connect', (req, socket, head) => this.#connect(watcher, req, socket as Socket, head))
    handleRequests(
      this.#tunnelServer,
      (req, res) => this.#forwardTunnelled(watcher, req, res),
      watcher.refused,
    )
    this.#tunnelServer.emit('listening') // starts the timeouts for heads
    return { origin, watcher }
  }

  /** Ends open exchanges and tunnels, and stops listening. May be called more than once. */
  close(): Promise<void> {
    // A client that refused the certificate and exited may not have been noticed yet.
    if (this.#closed === undefined) for (const report of this.#openHandshakes.values()) report()
    this.#closed ??= new Promise((resolve) => {
      this.#exchanges.stop()
      this.#server.close(() => resolve())
      this.#tunnelServer.close()
      // After the ends of streams were sent.
      setImmediate(() => {
        this.#server.closeAllConnections()
        for (const socket of this.#sockets) socket.destroy()
      })
      this.#client.close()
    })
    return this.#closed
  }

  #forwardAbsolute(watcher: ForwardProxyWatcher, req: IncomingMessage, res: ServerResponse): void {
    if (!hasCredentials(req.rawHeaders, this.#options.credentials)) {
      watcher.unauthorized()
      req.resume()
      return sendErrorResponse(res, 407, UNAUTHORIZED, CHALLENGE)
    }
    const named = parseAbsoluteTarget(req.url ?? '')
    if (named !== undefined) {
      const headers = withHost(withoutCredentials(req.rawHeaders), new URL(named.origin).host)
      return this.#forward(watcher, { ...named, headers }, req, res)
    }
    const why = 'this is a forward proxy: a request must contain the whole URL'
    watcher.refused(why)
    req.resume()
    sendErrorResponse(res, 400, why)
  }

  /** A client gave its credentials with CONNECT. */
  #forwardTunnelled(watcher: ForwardProxyWatcher, req: IncomingMessage, res: ServerResponse): void {
    this.#usedSockets.add(req.socket)
    const origin = this.#origins.get(req.socket) ?? ''
    const path = parseAbsoluteTarget(req.url ?? '')?.path ?? req.url ?? '/'
    this.#forward(watcher, { origin, path, headers: withoutCredentials(req.rawHeaders) }, req, res)
  }

  #forward(
    { watch }: ForwardProxyWatcher,
    named: Required<Omit<RequestLine, 'method'>>,
    req: IncomingMessage,
    res: ServerResponse,
  ): void {
    const line = { method: req.method ?? '', ...named }
    const upstream = {
      client: this.#client,
      url: new URL(named.origin),
      added: [],
      host: undefined,
      rewriterFor: () => undefined,
    }
    const forward = (): void =>
      this.#exchanges.start(new ProxiedExchange(upstream, line, watch(line)), req, res)
    const { answer } = this.#options
    if (answer === undefined) forward()
    else answer(line, { req, res }, forward)
  }

  #connect(watcher: ForwardProxyWatcher, req: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#track(socket)
    if (!hasCredentials(req.rawHeaders, this.#options.credentials)) {
      watcher.unauthorized()
      return refuseConnect(socket, '407 Proxy Authentication Required', CHALLENGE)
    }
    const to = parseConnectTarget(req.url ?? '')
    const problem = headProblem(req)
    if (to === undefined || problem !== undefined) {
      watcher.refused(problem?.why ?? `CONNECT ${req.url}`)
      return refuseConnect(socket, '400 Bad Request')
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    peekFirstByte(socket, (byte) => {
      if (byte !== TLS_HANDSHAKE) return this.#serveTunnel(socket, `http://${to.authority}`)
      const context = this.#options.contextFor?.(to.host)
      if (context !== undefined) return void this.#terminateTls(watcher, socket, { to, context })
      watcher.tunnelled(to)
      this.#track(tunnelBytes(socket, to, (why) => watcher.unreachable(to, why)))
    })
  }

  async #terminateTls(
    watcher: ForwardProxyWatcher,
    socket: Socket,
    { to, context }: { readonly to: HostAndPort; readonly context: Promise<SecureContext> },
  ): Promise<void> {
    try {
      const inside = terminateTls(socket, await context)
      this.#openHandshakes.set(inside, () => watcher.distrusted(to))
      inside.on('secure', () => this.#openHandshakes.delete(inside))
      inside.on('close', () => {
        this.#openHandshakes.delete(inside)
        if (!this.#usedSockets.has(inside) && this.#closed === undefined) watcher.distrusted(to)
      })
      this.#serveTunnel(inside, `https://${to.authority}`)
    } catch {
      socket.destroy() // the client has left, or no certificate can be made for such a host
    }
  }

  #serveTunnel(socket: Socket, origin: string): void {
    this.#origins.set(socket, new URL(origin).origin)
    this.#tunnelServer.emit('connection', socket)
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}) // a client that left is noticed by the close
    socket.on('close', () => this.#sockets.delete(socket))
  }
}

const UNAUTHORIZED = 'the user name and password in HTTP_PROXY are required'
const CHALLENGE = { 'Proxy-Authenticate': 'Basic realm="reelay"' }
const PROXY_AUTHORIZATION = 'proxy-authorization'

/** Compares in constant time, so that the credentials cannot be guessed byte by byte. */
function hasCredentials(headers: RawHeaders, { user, password }: ProxyCredentials): boolean {
  const given = headers.filter(
    (_, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === PROXY_AUTHORIZATION,
  )
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(given[0] ?? '') ?? []
  const expected = Buffer.from(`${user}:${password}`).toString('base64')
  return given.length === 1 && timingSafeEqual(sha256(encoded), sha256(expected))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The credentials go neither to a server nor to the tape. */
function withoutCredentials(headers: RawHeaders): RawHeaders {
  return headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== PROXY_AUTHORIZATION)
}

function refuseConnect(socket: Socket, status: string, headers: Readonly<Record<string, string>> = {}): void {
  const lines = Object.entries({ ...headers, 'Content-Length': '0', Connection: 'close' })
  socket.end(`HTTP/1.1 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
}

/** The target of a CONNECT request. */
export interface HostAndPort {
  /** The host name, without the brackets around an IPv6 address. */
  readonly host: string
  readonly port: number
  /** Host and port in the form in which a URL contains them. */
  readonly authority: string
}

/** Parses the target of a CONNECT request. */
export function parseConnectTarget(text: string): HostAndPort | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+):(\d{1,5})$/i.exec(text)
  if (found === null || !URL.canParse(`http://${text}`)) return undefined
  const port = Number(found[2])
  return port === 0 ? undefined : { host: found[1]!.replaceAll(/[[\]]/g, ''), port, authority: text }
}

/** Reads the first byte that a client sends, without consuming it. */
function peekFirstByte(socket: Socket, then: (byte: number) => void): void {
  const leave = (): void => void socket.end() // the client left without sending anything
  const giveUp = (): void => void socket.destroy()
  const look = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    socket.setTimeout(0).off('readable', look).off('end', leave).off('timeout', giveUp).unshift(chunk)
    then(chunk[0] ?? 0)
  }
  socket.setTimeout(FIRST_BYTE_MS).on('readable', look).on('end', leave).on('timeout', giveUp)
}

/** Forwards bytes in both directions. Either side may close its direction first. */
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

/** Completes the TLS handshake with the client in place of its server. */
function terminateTls(socket: Socket, secureContext: SecureContext): TLSSocket {
  const inside = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  inside.on('error', () => socket.destroy())
  return inside
}
