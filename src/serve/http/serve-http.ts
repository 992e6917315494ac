import { randomUUID } from 'node:crypto'
import { isLoopback } from '../../http/host-check.ts'
import type { ListenAddress } from '../../http/server/listen.ts'
import { discardBody } from '../../http/server/served-exchange.ts'
import { seededRandom } from '../../seeded-random.ts'
import { type Drift, sumServerDrifts } from '../drift.ts'
import { HttpRouter } from './http-router.ts'
import { readPostedMessage, methodNotAllowed, sendHttpError } from './posted-message.ts'
import {
  createServedRecording,
  type ServedRecording,
  type ServedRecordingOptions,
} from './served-recording.ts'
import { SseEndpoint } from './sse-endpoint.ts'
import { StreamableEndpoint } from './streamable-endpoint.ts'
import { withHttpFrames, serverNamesOf, resolveServer } from '../playable-tape.ts'
import { ClientPauses } from '../player/clock.ts'
import { MessageParser } from '../player/message-parser.ts'
import type { ServeOptions } from '../serve-options.ts'
import { serveCommandLine } from '../suggested-commands.ts'
import { passthroughServerFor, type LiveUpstreamOptions } from '../upstream/passthrough-server.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { selectServers } from '../../tape/server-filter.ts'

export interface ServeHttpOptions extends ServeOptions, LiveUpstreamOptions {
  /** Where Streamable HTTP is spoken: a free port of this machine, unless told otherwise. It is, if `sse` is not given either. */
  readonly http?: Partial<ListenAddress>
  /** Where HTTP+SSE of 2024-11-05 is spoken; on the same port, if that is not told otherwise. */
  readonly sse?: Partial<ListenAddress>
  /** Makes what answers a client that the tape cannot, in place of `live`: one for each client. */
  readonly elsewhere?: () => UpstreamServer
  /** How long that is kept for a client that let go of its standing stream and says nothing: then its session is over. By default a minute. */
  readonly keepLiveMs?: number
}

/** A server of a tape, at a URL. */
export interface ServedEndpoint {
  readonly server: string
  readonly transport: HttpTransport
  readonly url: string
}

/** A tape that is being served over HTTP. */
export interface ServedHttp {
  /** What a client is to be given: the first of the endpoints. */
  readonly url: string
  readonly endpoints: readonly ServedEndpoint[]
  /** Whether other machines can reach it. */
  readonly isOpen: boolean
  /** What all clients together have left over or added so far. */
  readonly drift: () => Drift
  /** Ends what is under way and stops to listen; may be called twice. */
  readonly close: () => Promise<void>
}

/**
 * Is the recorded server over HTTP, for any number of clients. Every server of the tape has a path of its own.
 *
 * @example
 * const served = await serveHttp({ tape: await loadTape('search.tape.jsonl') })
 * // give served.url to the clients
 * await served.close()
 */
export async function serveHttp(given: ServeHttpOptions): Promise<ServedHttp> {
  const live = passthroughServerFor(given)
  const behind = live && {
    server: resolveServer(given.tape, given.server),
    elsewhere: () => live.connectClient(),
  }
  const options = { ...given, ...behind, tape: await withHttpFrames(given.tape) }
  const shared = { rests: new ClientPauses(), newId: sessionIdGenerator(options.seed) }
  const roles = selectedServers(options).map((server) => servedRecordingFor(options, server, shared))
  const places = createRouters(options)
  const offers = places.flatMap(({ front, transports }) =>
    roles.flatMap((role) =>
      transports.map((transport) => mountEndpoint(front, role, { transport, isOnly: roles.length === 1 })),
    ),
  )
  const origins = await listenAll(places)
  const endpoints = offers.map(({ front, server, transport, path }) => ({
    server,
    transport,
    url: `${origins.get(front)}${path}`,
  }))
  return {
    url: endpoints[0]?.url ?? '',
    endpoints,
    isOpen: places.some(({ listen }) => !isLoopback(listen.host)),
    drift: () => sumServerDrifts(roles.map((role) => role.drift())),
    close: async () => {
      for (const { close } of offers) close()
      await Promise.all([...roles.map((role) => role.close()), ...places.map(({ front }) => front.close())])
      if (behind !== undefined) await live?.appendToTape(given.tape, behind.server)
    },
  }
}

/** Either all listen, or none. */
async function listenAll(places: readonly ListeningRouter[]): Promise<ReadonlyMap<HttpRouter, string>> {
  const origins = new Map<HttpRouter, string>()
  try {
    for (const { front } of places) origins.set(front, await front.listen())
  } catch (error) {
    await Promise.all([...origins.keys()].map((front) => front.close()))
    throw error
  }
  return origins
}

function selectedServers({ tape, server }: ServeHttpOptions): readonly string[] {
  const names = serverNamesOf(tape)
  if (server !== undefined) return selectServers({ path: tape.path, names }, server)
  return names.length > 1 ? names : [resolveServer(tape, server)]
}

function servedRecordingFor(
  options: ServeHttpOptions,
  server: string,
  shared: Pick<ServedRecordingOptions, 'rests' | 'newId'>,
): ServedRecording {
  const { name, tape } = options
  return createServedRecording({
    options: { ...options, server },
    ...shared,
    commandFor: (loosening) =>
      [serveCommandLine(name ?? tape.path, options.server, loosening), ...flagsOf(options)].join(' '),
  })
}

function flagsOf({ http, sse, flags = [] }: ServeHttpOptions): readonly string[] {
  return [...flags, ...(http || !sse ? flagOf('--http', http) : []), ...(sse ? flagOf('--sse', sse) : [])]
}

function flagOf(name: string, listen: Partial<ListenAddress> | undefined): readonly string[] {
  return listen?.port ? [name, formatAddress(withDefaultAddress(listen))] : [name]
}

type HttpTransport = 'http' | 'sse'

/** Where each transport is to be spoken; one that is not given is not. */
type HttpAddresses = { readonly [transport in HttpTransport]?: Partial<ListenAddress> | undefined }

interface ListeningRouter {
  readonly front: HttpRouter
  readonly listen: ListenAddress
  readonly transports: readonly HttpTransport[]
}

/** `now` is the time for all of them, where it is not that of the clock on the wall. */
interface RouterClock {
  readonly now?: (() => number) | undefined
}

/** One listener for each address that was asked for: both transports share one unless told otherwise. */
function createRouters({ http, sse, now }: HttpAddresses & RouterClock): readonly ListeningRouter[] {
  const place = (listen: ListenAddress, ...transports: ListeningRouter['transports']): ListeningRouter => ({
    front: new HttpRouter(listen, now),
    listen,
    transports,
  })
  if (sse === undefined) return [place(withDefaultAddress(http ?? {}), 'http')]
  if (http === undefined) return [place(withDefaultAddress(sse), 'sse')]
  const [forHttp, forSse] = [withDefaultAddress(http), withDefaultAddress({ ...http, ...sse })]
  if (formatAddress(forHttp) === formatAddress(forSse)) return [place(forHttp, 'http', 'sse')]
  return [place(forHttp, 'http'), place(forSse, 'sse')]
}

function withDefaultAddress({ host = '127.0.0.1', port = 0 }: Partial<ListenAddress>): ListenAddress {
  return { host, port }
}

function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A server at a path. */
interface MountedEndpoint {
  readonly front: HttpRouter
  readonly server: string
  readonly transport: HttpTransport
  readonly path: string
  readonly close: () => void
}

/** Gives a server its paths: `/mcp` and `/sse`, behind its name where there are several. */
function mountEndpoint(
  front: HttpRouter,
  role: ServedRecording,
  { transport, isOnly }: { transport: HttpTransport; isOnly: boolean },
): MountedEndpoint {
  const { server } = role
  const base = isOnly ? '' : `/${encodeURIComponent(server)}`
  if (transport === 'http') {
    const endpoint = new StreamableEndpoint(role)
    front.route(`${base}/mcp`, (req, res) => endpoint.handle(req, res))
    return { front, server, transport, path: `${base}/mcp`, close: () => endpoint.close() }
  }
  const endpoint = new SseEndpoint(role, `${base}/messages`)
  const heard = new MessageParser()
  front.route(`${base}/sse`, (req, res) => {
    if (req.method === 'GET') return endpoint.open(req, res)
    discardBody(req)
    sendHttpError(res, methodNotAllowed('GET'))
  })
  front.route(`${base}/messages`, (req, res) => {
    if (req.method === 'POST')
      return readPostedMessage({ req, res, heard }, (posted) => void endpoint.post(posted))
    discardBody(req)
    sendHttpError(res, methodNotAllowed('POST'))
  })
  return { front, server, transport, path: `${base}/sse`, close: () => endpoint.close() }
}

/** Ids for sessions: nobody can guess them, unless a seed says that two runs are to be alike. */
export function sessionIdGenerator(seed: number | undefined): () => string {
  if (seed === undefined) return randomUUID
  const random = seededRandom(seed)
  return () => seededUuid(random)
}

/** In the form of a random UUID: its version is 4, its variant one of 8, 9, a and b. */
function seededUuid(random: () => number): string {
  const digit = (): string => Math.floor(random() * 16).toString(16)
  const variant = (): string => '89ab'[Math.floor(random() * 4)] ?? '8'
  return UUID_TEMPLATE.replaceAll(/[xy]/g, (place) => (place === 'x' ? digit() : variant()))
}

const UUID_TEMPLATE = 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'
