import type { Server } from 'node:http'
import { HttpClient } from '../client/http-client.ts'
import { type AddedHeader, findHeader, isEventStream, type RawHeaders, withHost } from '../headers.ts'
import { bareHost, HostCheck, isLoopback, parseAbsoluteTarget } from '../hosts.ts'
import { FastListener } from '../server/fast-listener.ts'
import type { ProxyResponse } from '../server/fast-response.ts'
import {
  createHttpServer,
  discardBody,
  handleRequests,
  type ListenAddress,
  listenOn,
  sendErrorResponse,
  type ServedRequest,
} from '../server/http-server.ts'
import {
  OpenExchanges,
  ProxiedExchange,
  type ProxyWatcher,
  type RequestLine,
  type ResponseRewriter,
  type Upstream,
} from './proxied-exchange.ts'

interface ReverseProxyOptions {
  readonly url: URL
  readonly listen: ListenAddress
  /** Headers that are added to every request. */
  readonly added: readonly AddedHeader[]
  /** Returns the path for the server. The client may use another one, which shows no secrets. */
  readonly serverPath?: (path: string) => string
}

/**
 * A reverse proxy that changes nothing: heads keep their spelling and order, and bodies are forwarded as they arrive. No
 * request is sent to the server twice. When one side disconnects, the other side is disconnected at once.
 */
export class ReverseProxy {
  readonly #listen: ListenAddress
  readonly #upstream: Upstream
  readonly #server: Server = createHttpServer()
  readonly #hostCheck: HostCheck
  readonly #serverPath: (path: string) => string
  readonly #exchanges = new OpenExchanges()
  #fast: FastListener | undefined
  #closed: Promise<void> | undefined

  constructor({ url, listen, added, serverPath = (path) => path }: ReverseProxyOptions) {
    this.#listen = listen
    this.#hostCheck = new HostCheck(listen.host)
    this.#serverPath = serverPath
    this.#upstream = {
      client: new HttpClient(),
      url,
      added,
      // A server on this machine checks the Host that its client sent; a server elsewhere must see its own.
      host: isLoopback(bareHost(url)) ? undefined : url.host,
      rewriterFor: (request, headers) => endpointRewriterFor(url, request, headers),
    }
  }

  /** Starts to listen. `begin` is called only if that succeeds, and before the first request can arrive. */
  async listen<Watcher extends ProxyWatcher>(
    begin: () => Watcher,
  ): Promise<{ origin: string; watcher: Watcher }> {
    const origin = await listenOn(this.#server, this.#listen)
    const watcher = begin()
    const forward = (req: ServedRequest, res: ProxyResponse): void => this.#forward(watcher, req, res)
    handleRequests(this.#server, forward, watcher.refused)
    this.#fast = new FastListener(this.#server, forward, { collectsBodies: false })
    return { origin, watcher }
  }

  /** Ends open exchanges and stops listening. May be called more than once. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#exchanges.stop()
      this.#server.close(() => resolve())
      // After the ends of streams were sent.
      setImmediate(() => {
        this.#fast?.close()
        this.#server.closeAllConnections()
      })
      this.#upstream.client.close()
    })
    return this.#closed
  }

  #forward({ watch, refused }: ProxyWatcher, req: ServedRequest, res: ProxyResponse): void {
    const sent = requestLineOf(req)
    const refuse = (status: 400 | 403, why: string): void => {
      refused(why)
      discardBody(req)
      sendErrorResponse(res, status, why)
    }
    if (sent === undefined) return refuse(400, 'Invalid request target')
    const line = { ...sent, path: this.#serverPath(sent.path) }
    const why = this.#hostCheck.rejectionReason(line.headers)
    if (why !== undefined) return refuse(403, why)
    this.#exchanges.start(new ProxiedExchange(this.#upstream, line, watch(line)), req, res)
  }
}

/** Returns undefined if the target is invalid. A client may send the whole URL, as it would to a forward proxy. */
function requestLineOf({
  method = '',
  url = '',
  rawHeaders: headers,
}: ServedRequest): RequestLine | undefined {
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return { method, path: url, headers }
  const named = parseAbsoluteTarget(url)
  return named && { method, path: named.path, headers: withHost(headers, new URL(named.origin).host) }
}

function endpointRewriterFor(
  server: URL,
  request: RequestLine,
  headers: RawHeaders,
): ResponseRewriter | undefined {
  if (request.method !== 'GET' || !isEventStream(headers)) return undefined
  // The replaced origin changes the length of the body.
  if (
    findHeader(headers, 'content-encoding') !== undefined ||
    findHeader(headers, 'content-length') !== undefined
  )
    return undefined
  return endpointRewriter(server.origin, `http://${findHeader(request.headers, 'host')}`)
}

const NOTHING = Buffer.alloc(0)
const ENDPOINT_START = /^\uFEFF?event: ?endpoint\r?\n/
const ENDPOINT_EVENT = /^\uFEFF?event: ?endpoint(\r?\n)data: ?([^\r\n]*)\1\1/
const MAX_HELD_LENGTH = 8192

/**
 * Replaces the origin of the endpoint that a legacy HTTP+SSE server names, because clients refuse an endpoint of another
 * origin than the stream's. The endpoint can only be the first event, so bytes are held back only while they look like the
 * start of that event. A relative endpoint stays unchanged.
 */
export function endpointRewriter(from: string, to: string): ResponseRewriter {
  let held: Buffer | undefined = NOTHING
  const release = (bytes: Uint8Array): Uint8Array => {
    held = undefined
    return bytes
  }
  return {
    next(chunk) {
      if (held === undefined) return chunk
      held = Buffer.concat([held, chunk])
      const text = held.toString('latin1').replace('\u00EF\u00BB\u00BF', '\uFEFF')
      if (ENDPOINT_EVENT.test(text)) return release(rewriteEndpoint(held, from, to))
      return mayBecomeEndpoint(text) ? NOTHING : release(held)
    },
    end: () => release(held ?? NOTHING),
  }
}

function mayBecomeEndpoint(text: string): boolean {
  if (text.length > MAX_HELD_LENGTH) return false
  if (ENDPOINT_START.test(text)) return !/\r?\n\r?\n/.test(text)
  return ['event: endpoint\r\n', 'event:endpoint\r\n'].some((opening) => opening.startsWith(text))
}

function rewriteEndpoint(bytes: Buffer, from: string, to: string): Uint8Array {
  const data = /data: ?/.exec(bytes.toString('latin1'))
  const start = (data?.index ?? 0) + (data?.[0].length ?? 0)
  const isAbsolute = bytes.subarray(start, start + from.length).toString('latin1') === from
  const next = String.fromCharCode(bytes[start + from.length] ?? 0)
  if (!isAbsolute || !'/?\r\n'.includes(next)) return bytes
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(to), bytes.subarray(start + from.length)])
}
