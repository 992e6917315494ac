import { selectServers } from '../../tape/server-filter.ts'
import type { ListenAddress } from '../../http/server/listen.ts'
import { isLoopback } from '../../transport/loopback.ts'
import { serveCommandLine } from '../suggested-commands.ts'
import type { Drift } from '../drift.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { sumServerDrifts } from '../joined-drift.ts'
import { sessionIdGenerator } from '../made-up-ids.ts'
import { passthroughServerFor, type LiveUpstreamOptions } from '../live-transport.ts'
import { withHttpFrames } from '../playable-tape.ts'
import { ClientPauses } from '../rests.ts'
import type { ServeOptions } from '../serve-options.ts'
import { serverNamesOf, resolveServer } from '../which-server.ts'
import type { HttpRouter } from './http-router.ts'
import { mountEndpoint } from './offer.ts'
import {
  formatAddress,
  createRouters,
  withDefaultAddress,
  type HttpTransport,
  type ListeningRouter,
} from './places.ts'
import {
  createServedRecording,
  type ServedRecording,
  type ServedRecordingOptions,
} from './served-recording.ts'

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
