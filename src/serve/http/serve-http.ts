import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { HostCheck, isLoopback } from '../../http/hosts.ts'
import { FastListener } from '../../http/server/fast-listener.ts'
import {
  createHttpServer,
  discardBody,
  handleRequests,
  listenOn,
  sendErrorResponse,
  type ListenAddress,
  type ServedHandler,
  type ServedRequest,
  type ServedResponse,
} from '../../http/server/http-server.ts'
import { seededRandom } from '../../seeded-random.ts'
import { type Drift, sumServerDrifts } from '../drift.ts'
import { sendHttpError } from './post-exchange.ts'
import { createServedRecording, type ServedRecording } from './served-recording.ts'
import type { SessionLimits } from './session-table.ts'
import { SseEndpoint } from './sse-endpoint.ts'
import { StreamableEndpoint } from './streamable-endpoint.ts'
import { resolveServer, serverNamesOf, withHttpFrames } from '../playable-tape.ts'
import { type ServeOptions, serveCommandLine } from '../serve-options.ts'
import { passthroughServerFor, type LiveUpstreamOptions } from '../upstream/passthrough.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { selectServers } from '../../tape/server-filter.ts'

export interface ServeHttpOptions extends ServeOptions, LiveUpstreamOptions, SessionLimits {
  /** Address for Streamable HTTP. The default is a free port on this machine. Used if `sse` is not given either. */
  readonly http?: Partial<ListenAddress>
  /** Address for HTTP+SSE of 2024-11-05. The default is the address of `http`. */
  readonly sse?: Partial<ListenAddress>
  /** Creates the server that answers what the tape cannot, instead of `live`. It is called once for each client. */
  readonly upstream?: () => UpstreamServer
  /** How long an upstream server is kept for a client that closed its standing stream and is silent. The default is a minute. */
  readonly keepLiveMs?: number
}

/** One server of a tape, at a URL. */
export interface ServedEndpoint {
  readonly server: string
  readonly transport: HttpTransport
  readonly url: string
}

/** A tape that is being served over HTTP. */
export interface ServedHttp extends AsyncDisposable {
  /** The URL of the first endpoint. */
  readonly url: string
  readonly endpoints: readonly ServedEndpoint[]
  /** True if other machines can connect. */
  readonly isOpen: boolean
  /** How all sessions together differ from the tape so far. */
  readonly drift: () => Drift
  /** Ends all sessions and stops listening. It may be called twice. */
  readonly close: () => Promise<void>
}

/**
 * Serves a tape as an MCP server over HTTP, to any number of clients. Every server of the tape has its own path.
 *
 * @example
 * const served = await serveHttp({ tape: await loadTape('search.tape.jsonl') })
 * // give served.url to the clients
 * await served.close()
 */
export async function serveHttp(given: ServeHttpOptions): Promise<ServedHttp> {
  const live = passthroughServerFor(given)
  const passthrough = live && {
    server: resolveServer(given.tape, given.server),
    upstream: () => live.connectClient(),
  }
  const options = { ...given, ...passthrough, tape: await withHttpFrames(given.tape) }
  const newId = sessionIdGenerator(options.seed)
  const recordings = selectedServers(options).map((server) => servedRecordingFor(options, server, newId))
  const listeners = createListeners(options)
  const mounted = listeners.flatMap(({ router, transports }) =>
    recordings.flatMap((recording) => {
      const base = recordings.length === 1 ? '' : `/${encodeURIComponent(recording.server)}`
      return transports.map((transport) => mountEndpoint(router, recording, transport, base))
    }),
  )
  const origins = await listenAll(listeners)
  const endpoints = mounted.map(({ router, server, transport, path }) => ({
    server,
    transport,
    url: `${origins.get(router)}${path}`,
  }))
  const close = async (): Promise<void> => {
    for (const each of mounted) each.close()
    await Promise.all([
      ...recordings.map((recording) => recording.close()),
      ...listeners.map(({ router }) => router.close()),
    ])
    if (passthrough !== undefined) await live?.appendToTape(given.tape, passthrough.server)
  }
  return {
    url: endpoints[0]?.url ?? '',
    endpoints,
    isOpen: listeners.some(({ address }) => !isLoopback(address.host)),
    drift: () => sumServerDrifts(recordings.map((recording) => recording.drift())),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function selectedServers({ tape, server }: ServeHttpOptions): readonly string[] {
  const names = serverNamesOf(tape)
  if (server !== undefined) return selectServers({ path: tape.path, names }, server)
  return names.length > 1 ? names : [resolveServer(tape, server)]
}

function servedRecordingFor(options: ServeHttpOptions, server: string, newId: () => string): ServedRecording {
  const { name, tape } = options
  return createServedRecording({
    options: { ...options, server },
    newId,
    commandFor: (loosening) =>
      [serveCommandLine(name ?? tape.path, options.server, loosening), ...commandFlags(options)].join(' '),
  })
}

function commandFlags({ http, sse, flags = [] }: ServeHttpOptions): readonly string[] {
  return [
    ...flags,
    ...(http || !sse ? addressFlag('--http', http) : []),
    ...(sse ? addressFlag('--sse', sse) : []),
  ]
}

function addressFlag(name: string, address: Partial<ListenAddress> | undefined): readonly string[] {
  return address?.port ? [name, formatAddress(withDefaultAddress(address))] : [name]
}

type HttpTransport = 'http' | 'sse'

interface Listener {
  readonly router: HttpRouter
  readonly address: ListenAddress
  readonly transports: readonly HttpTransport[]
}

/** Creates one listener for each address. Both transports share one if their addresses are equal. */
function createListeners({ http, sse, now }: ServeHttpOptions): readonly Listener[] {
  const listener = (address: ListenAddress, ...transports: Listener['transports']): Listener => ({
    router: new HttpRouter(address, now),
    address,
    transports,
  })
  if (sse === undefined) return [listener(withDefaultAddress(http ?? {}), 'http')]
  if (http === undefined) return [listener(withDefaultAddress(sse), 'sse')]
  const [forHttp, forSse] = [withDefaultAddress(http), withDefaultAddress({ ...http, ...sse })]
  if (formatAddress(forHttp) === formatAddress(forSse)) return [listener(forHttp, 'http', 'sse')]
  return [listener(forHttp, 'http'), listener(forSse, 'sse')]
}

/** Starts all listeners. If one fails, the others are closed again. */
async function listenAll(listeners: readonly Listener[]): Promise<ReadonlyMap<HttpRouter, string>> {
  const origins = new Map<HttpRouter, string>()
  try {
    for (const { router } of listeners) origins.set(router, await router.listen())
  } catch (error) {
    await Promise.all([...origins.keys()].map((router) => router.close()))
    throw error
  }
  return origins
}

function withDefaultAddress({ host = '127.0.0.1', port = 0 }: Partial<ListenAddress>): ListenAddress {
  return { host, port }
}

function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

interface MountedEndpoint {
  readonly router: HttpRouter
  readonly server: string
  readonly transport: HttpTransport
  readonly path: string
  readonly close: () => void
}

/** Adds the paths of a server to a router: `/mcp`, or `/sse` and `/messages`. */
function mountEndpoint(
  router: HttpRouter,
  recording: ServedRecording,
  transport: HttpTransport,
  base: string,
): MountedEndpoint {
  const mounted = { router, server: recording.server, transport }
  if (transport === 'http') {
    const endpoint = new StreamableEndpoint(recording)
    router.route(`${base}/mcp`, endpoint.handle)
    return { ...mounted, path: `${base}/mcp`, close: () => endpoint.close() }
  }
  const endpoint = new SseEndpoint(recording, `${base}/messages`)
  router.route(`${base}/sse`, endpoint.handleStream)
  router.route(`${base}/messages`, endpoint.handleMessages)
  return { ...mounted, path: `${base}/sse`, close: () => endpoint.close() }
}

/** Returns a generator of session ids. They cannot be guessed, unless a seed makes the run repeatable. */
export function sessionIdGenerator(seed: number | undefined): () => string {
  if (seed === undefined) return randomUUID
  const random = seededRandom(seed)
  return () => seededUuid(random)
}

/** A UUID of version 4. */
function seededUuid(random: () => number): string {
  const digit = (): string => Math.floor(random() * 16).toString(16)
  const variant = (): string => '89ab'[Math.floor(random() * 4)] ?? '8'
  return UUID_TEMPLATE.replaceAll(/[xy]/g, (place) => (place === 'x' ? digit() : variant()))
}

const UUID_TEMPLATE = 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'

/** An HTTP listener that passes each request to the handler of its path. */
class HttpRouter {
  readonly #listen: ListenAddress
  readonly #server: Server
  readonly #fast: FastListener | undefined
  readonly #hostCheck: HostCheck
  readonly #handlers = new Map<string, ServedHandler>()
  #closed: Promise<void> | undefined

  /** `now` replaces the system time in the `Date` header. */
  constructor(listen: ListenAddress, now?: () => number) {
    this.#listen = listen
    this.#hostCheck = new HostCheck(listen.host)
    this.#server = createHttpServer()
    handleRequests(this.#server, (req, res) => {
      if (now !== undefined) res.setHeader('Date', new Date(now()).toUTCString())
      this.#dispatch(req, res)
    })
    this.#fast = now === undefined ? new FastListener(this.#server, this.#dispatch) : undefined
  }

  route(path: string, handler: ServedHandler): void {
    this.#handlers.set(path, handler)
  }

  /** Starts to listen and returns the origin of the URL. */
  async listen(): Promise<string> {
    return listenOn(this.#server, this.#listen)
  }

  /** Stops listening and closes all connections. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      // The ends of streams are still to be written, so the connections close a moment later.
      setImmediate(() => {
        this.#fast?.close()
        this.#server.closeAllConnections()
      })
    })
    return this.#closed
  }

  readonly #dispatch = (req: ServedRequest, res: ServedResponse): void => {
    const rejection = this.#hostCheck.rejectionReason(req.rawHeaders)
    const handler = this.#handlers.get(pathOf(req))
    if (rejection === undefined && handler !== undefined) return handler(req, res)
    discardBody(req)
    if (rejection !== undefined) sendErrorResponse(res, 403, rejection)
    else sendHttpError(res, { status: 404, code: -32000, message: this.#notServed(pathOf(req)) })
  }

  #notServed(path: string): string {
    const served = [...this.#handlers.keys()]
    const hint = path.endsWith('/sse') ? '; reelay serve --sse serves HTTP+SSE' : ''
    return `nothing is served at ${path}, only at ${served.join(' and ')}${hint}`
  }
}

function pathOf({ url = '/' }: ServedRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}
