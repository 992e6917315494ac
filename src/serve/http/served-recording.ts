import type { SuggestedMatchOptions } from '../../match/options.ts'
import { FilteredTurns, turnStoreOf, type TurnStore } from '../../tape/turns.ts'
import { mergeSessionDrifts, sumServerDrifts, type Drift } from '../drift.ts'
import { playedAs, revisionOfServer, servedRevision, type PlayedAs } from '../playable-tape.ts'
import { clientPause, SystemClock } from '../player/clock.ts'
import { exchangeFaultActions } from '../player/reply-channel.ts'
import type { SessionPlayerSetup } from '../player/session-player.ts'
import { createPlayer, type ServedPlayer } from '../player/translated-player.ts'
import { preferTurns, sessionFilters, type SessionFilter } from '../player/turn-filters.ts'
import { sessionPlayerOptions, type ServeOptions } from '../serve-options.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { RecordedHeads, withoutTransportErrors } from './recorded-http.ts'
import type { SessionLimits } from './session-table.ts'

/** One server of a tape, ready to be served over HTTP in the eras that it spoke. */
export interface ServedRecording {
  readonly server: string
  readonly heads: RecordedHeads
  /** Creates a session id. */
  readonly newId: () => string
  readonly modernTurns: TurnStore
  readonly limits: SessionLimits
  /** At least one of these two is defined. */
  readonly legacy: ClientSessions | undefined
  readonly modern: ClientSessions | undefined
  /** The sessions for a transport that does not distinguish eras. */
  readonly main: ClientSessions
  readonly drift: () => Drift
  /** Ends all sessions, and their upstream servers. */
  readonly close: () => Promise<void>
}

interface ServedRecordingOptions {
  readonly options: ServeOptions &
    SessionLimits &
    Pick<ClientSessionsOptions, 'upstream' | 'keepLiveMs'> & { readonly server: string }
  readonly commandFor: (loosening: SuggestedMatchOptions) => string | undefined
  readonly newId: () => string
}

export function createServedRecording({
  options,
  commandFor,
  newId,
}: ServedRecordingOptions): ServedRecording {
  const { tape, server, upstream, keepLiveMs } = options
  const recordedHeads = new RecordedHeads(tape.rest)
  const all = withoutTransportErrors(turnStoreOf(tape.turns), recordedHeads)
  const isOnlyServer = all.kinds().every((kind) => kind.server === server)
  const turns = isOnlyServer ? all : new FilteredTurns(all, (index) => all.summary(index).server === server)
  const modernTurns = new FilteredTurns(turns, (index) => turns.summary(index).enveloped)
  const legacyTurns = new FilteredTurns(turns, (index) => !turns.summary(index).enveloped)
  const as = playedAs(options.as, turns, server)
  const sessionsFor = (served: TurnStore): ClientSessions =>
    new ClientSessions({
      turns: served,
      setupFor: (part) => sessionPlayerOptions({ ...options, tape: { ...tape, turns: part } }, commandFor),
      upstream,
      keepLiveMs,
      as,
    })
  const limits = { maxSessions: options.maxSessions, sessionIdleMs: options.sessionIdleMs }
  // Another era has other heads.
  const heads = as === undefined ? recordedHeads : new RecordedHeads([])
  const common = { server, heads, newId, modernTurns, limits }
  const isDual =
    isStatelessServer(modernTurns, server) === true && isStatelessServer(legacyTurns, server) === false
  // Without a tape, the upstream server decides which eras there are.
  const isUnknown = turns.size === 0 && upstream !== undefined
  if (isDual || isUnknown) {
    const [legacy, modern] = [sessionsFor(legacyTurns), sessionsFor(modernTurns)]
    return {
      ...common,
      legacy,
      modern,
      main: legacy,
      drift: () => sumServerDrifts([legacy.drift(), modern.drift()]),
      close: async () => void (await Promise.all([legacy.close(), modern.close()])),
    }
  }
  // All turns are used, so that a miss can mention requests that were recorded in the form of the other era.
  const main = sessionsFor(turns)
  const isModern = (as?.client ?? servedRevision(turns, server).revision)?.isStateless === true
  const eras = isModern ? { legacy: undefined, modern: main } : { legacy: main, modern: undefined }
  return { ...common, ...eras, main, drift: () => main.drift(), close: () => main.close() }
}

/** Returns `undefined` if the turns do not show it. */
function isStatelessServer(turns: TurnStore, server: string): boolean | undefined {
  return revisionOfServer(turns, server).revision?.isStateless
}

interface ClientSessionsOptions {
  readonly turns: TurnStore
  readonly setupFor: (turns: TurnStore) => SessionPlayerSetup
  /** Creates the server that answers what the tape cannot. Each client gets its own, because it distinguishes clients. */
  readonly upstream?: (() => UpstreamServer) | undefined
  /** How long an upstream server is kept for a client that seems to be gone. */
  readonly keepLiveMs?: number | undefined
  /** Set if the clients are of the other era. */
  readonly as: PlayedAs | undefined
}

const DEFAULT_KEEP_LIVE_MS = 60_000

/** The sessions of all clients of one recorded server. Each session uses up the tape on its own; their drift is merged. */
export class ClientSessions {
  readonly #options: ClientSessionsOptions
  readonly #setup: SessionPlayerSetup
  readonly #recordedSessions: readonly SessionFilter[]
  readonly #setupBySession = new WeakMap<SessionFilter, SessionPlayerSetup>()
  readonly #open = new Map<ServedPlayer, UpstreamServer | undefined>()
  readonly #closingUpstreams = new Set<Promise<void>>()
  readonly #afterClientReads = clientPause(new SystemClock())
  #closedDrift: Drift | undefined
  #sessionCount = 0

  constructor(options: ClientSessionsOptions) {
    const { turns, setupFor } = options
    this.#options = options
    this.#setup = setupFor(turns)
    const sessions = sessionFilters(turns)
    this.#recordedSessions = sessions.length > 1 ? sessions : []
  }

  /** How long a session is kept for a client that seems to be gone; `undefined` without an upstream server. */
  get keepLiveMs(): number | undefined {
    const { upstream, keepLiveMs = DEFAULT_KEEP_LIVE_MS } = this.#options
    return upstream === undefined ? undefined : keepLiveMs
  }

  /** Opens the nth session of this run, which prefers what was recorded in the nth session of the tape. */
  openNextSession(send: (text: string) => void): ServedPlayer {
    const nth = this.#sessionCount++ % Math.max(this.#recordedSessions.length, 1)
    return this.open(this.#recordedSessions[nth], send)
  }

  /** Opens a session that prefers the turns of a recorded session to equal turns of others. */
  open(isOwn: SessionFilter | undefined, send: (text: string) => void): ServedPlayer {
    const setup = isOwn === undefined ? this.#setup : this.#setupFor(isOwn)
    const upstream = this.#options.upstream?.()
    const player = createPlayer(
      {
        ...setup,
        upstream,
        recordedServer: setup.recordedServer.newSession(),
        faultActions: exchangeFaultActions,
        afterClientReads: this.#afterClientReads,
        send,
      },
      this.#options.as,
    )
    this.#open.set(player, upstream)
    return player
  }

  /** Ends a session. Only its drift is kept. */
  closeSession(player: ServedPlayer): void {
    const upstream = this.#open.get(player)
    if (!this.#open.delete(player)) return
    this.#closedDrift = mergeSessionDrifts(this.#driftOfClosed(), player.drift())
    if (upstream !== undefined) this.#closeUpstream(upstream)
  }

  /** Ends all sessions. Resolves when their upstream servers have ended. */
  async close(): Promise<void> {
    for (const player of this.#open.keys()) this.closeSession(player)
    await Promise.all(this.#closingUpstreams)
  }

  drift(): Drift {
    return mergeSessionDrifts(
      this.#driftOfClosed(),
      ...[...this.#open.keys()].map((player) => player.drift()),
    )
  }

  #closeUpstream(upstream: UpstreamServer): void {
    const closing = upstream.close(AbortSignal.abort())
    this.#closingUpstreams.add(closing)
    void closing.finally(() => this.#closingUpstreams.delete(closing))
  }

  #driftOfClosed(): Drift {
    if (this.#closedDrift !== undefined) return this.#closedDrift
    return { answered: 0, leftOver: this.#setup.recordedServer.leftOver(), misses: [], notes: [] }
  }

  #setupFor(isOwn: SessionFilter): SessionPlayerSetup {
    const { turns, setupFor } = this.#options
    const setup = this.#setupBySession.get(isOwn) ?? setupFor(preferTurns(turns, isOwn))
    this.#setupBySession.set(isOwn, setup)
    return setup
  }
}
