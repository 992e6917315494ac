import type { SuggestedMatchOptions } from '../../match/options.ts'
import { type Drift, sumServerDrifts, mergeSessionDrifts } from '../drift.ts'
import { RecordedHeads, withoutTransportErrors } from './recorded-http.ts'
import { revisionOfServer } from '../playable-tape.ts'
import type { ClientPauses } from '../player/clock.ts'
import { exchangeFaultActions } from '../player/reply-channel.ts'
import { SessionPlayer, type SessionPlayerOptions } from '../player/session-player.ts'
import { sessionFilters, type SessionFilter, preferTurns } from '../player/turn-filters.ts'
import { sessionPlayerOptions, type ServeOptions } from '../serve-options.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { filterTurns, turnStoreOf, type TurnStore } from '../../tape/turns.ts'

export interface ServedRecordingOptions {
  readonly options: ServeOptions &
    Pick<ClientSessionsOptions, 'elsewhere' | 'keepLiveMs'> & { readonly server: string }
  readonly commandFor: (loosening: SuggestedMatchOptions) => string
  readonly rests: ClientPauses
  /** Makes up the id of one more session. */
  readonly newId: () => string
}

/** One server of a tape, ready to be played over HTTP: its connections in each era that it spoke, which is one at least. */
export interface ServedRecording {
  readonly server: string
  readonly heads: RecordedHeads
  readonly newId: () => string
  readonly modernTurns: TurnStore
  readonly legacy: ClientSessions | undefined
  readonly modern: ClientSessions | undefined
  /** For a transport that knows nothing of eras. */
  readonly main: ClientSessions
  readonly drift: () => Drift
  /** Ends the live servers behind it, if there are any. */
  readonly close: () => Promise<void>
}

export function createServedRecording({
  options,
  commandFor,
  rests,
  newId,
}: ServedRecordingOptions): ServedRecording {
  const { tape, server } = options
  const heads = new RecordedHeads(tape.rest)
  const all = withoutTransportErrors(turnStoreOf(tape.turns), heads)
  const isAlone = all.kinds().every((kind) => kind.server === server)
  const turns = isAlone ? all : filterTurns(all, (place) => all.summary(place).server === server)
  const modernTurns = filterTurns(turns, (place) => turns.summary(place).enveloped)
  const legacyTurns = filterTurns(turns, (place) => !turns.summary(place).enveloped)
  const connectionsOf = (played: TurnStore): ClientSessions =>
    new ClientSessions({
      turns: played,
      playing: (part) => sessionPlayerOptions({ ...options, tape: { ...tape, turns: part } }, commandFor),
      later: rests.later,
      elsewhere: options.elsewhere,
      keepLiveMs: options.keepLiveMs,
    })
  const place = { server, heads, newId, modernTurns }
  const isDual =
    isStatelessServer(modernTurns, server) === true && isStatelessServer(legacyTurns, server) === false
  // What a live server speaks is its own affair, where no tape says.
  const isUnknown = turns.size === 0 && options.elsewhere !== undefined
  if (isDual || isUnknown)
    return { ...place, ...servedInBothEras(connectionsOf(legacyTurns), connectionsOf(modernTurns)) }
  // All that was said to it, so that a miss can tell of what was said in the form of the other era.
  const main = connectionsOf(turns)
  const isModern = isStatelessServer(turns, server) === true
  const [modern, legacy] = isModern ? [main, undefined] : [undefined, main]
  return { ...place, modern, legacy, main, drift: () => main.drift(), close: () => main.close() }
}

/** Returns `undefined` if the turns do not show it. */
function isStatelessServer(turns: TurnStore, server: string): boolean | undefined {
  return revisionOfServer(turns, server).revision?.isStateless
}

function servedInBothEras(
  legacy: ClientSessions,
  modern: ClientSessions,
): Pick<ServedRecording, 'legacy' | 'modern' | 'main' | 'drift' | 'close'> {
  return {
    legacy,
    modern,
    main: legacy,
    drift: () => sumServerDrifts([legacy.drift(), modern.drift()]),
    close: async () => void (await Promise.all([legacy.close(), modern.close()])),
  }
}

interface ClientSessionsOptions {
  readonly turns: TurnStore
  readonly playing: (turns: TurnStore) => PlayerSetup
  readonly later: (resume: () => void) => void
  /** What answers a client that the tape cannot: each has its own, because the live server knows its clients apart. */
  readonly elsewhere?: (() => UpstreamServer) | undefined
  /** How long that is kept for a client that seems to be gone. */
  readonly keepLiveMs?: number | undefined
}

const DEFAULT_KEEP_LIVE_MS = 60_000

type PlayerSetup = Omit<SessionPlayerOptions, 'send' | 'later'>

/** The connections to one recorded server. Each has its own cursors; the account is one. */
export class ClientSessions {
  readonly #options: ClientSessionsOptions
  readonly #setup: PlayerSetup
  readonly #sessions: readonly SessionFilter[]
  readonly #setupBySession = new Map<SessionFilter, PlayerSetup>()
  readonly #open = new Map<SessionPlayer, UpstreamServer | undefined>()
  readonly #closingUpstreams = new Set<Promise<void>>()
  #closedDrift: Drift | undefined
  #sessionCount = 0

  constructor(options: ClientSessionsOptions) {
    const { turns, playing } = options
    this.#options = options
    this.#setup = playing(turns)
    const sessions = sessionFilters(turns)
    this.#sessions = sessions.length > 1 ? sessions : []
  }

  /** How long something is kept for a client that seems to be gone; undefined when there is nothing to keep. */
  get keepLiveMs(): number | undefined {
    const { elsewhere, keepLiveMs = DEFAULT_KEEP_LIVE_MS } = this.#options
    return elsewhere === undefined ? undefined : keepLiveMs
  }

  /** The nth session of this run is answered with what the nth recorded one got, before anything else that was recorded. */
  openNextSession(send: (text: string) => void): SessionPlayer {
    return this.open(this.#sessions[this.#sessionCount++ % Math.max(this.#sessions.length, 1)], send)
  }

  /** Another connection; what is its own is said to it before anything else that was recorded. */
  open(isOwn: SessionFilter | undefined, send: (text: string) => void): SessionPlayer {
    const part = isOwn === undefined ? this.#setup : this.#setupFor(isOwn)
    const script = part.script.newSession()
    const { later } = this.#options
    const elsewhere = this.#options.elsewhere?.()
    const live = elsewhere && { elsewhere }
    const player = new SessionPlayer({
      ...part,
      ...live,
      faultActions: exchangeFaultActions,
      script,
      send,
      later,
    })
    this.#open.set(player, elsewhere)
    return player
  }

  /** The connection is over: its account is kept, and nothing else of it. */
  closeSession(player: SessionPlayer): void {
    const elsewhere = this.#open.get(player)
    if (!this.#open.delete(player)) return
    this.#closedDrift = mergeSessionDrifts(this.#driftOfClosed(), player.drift())
    if (elsewhere !== undefined) this.#closeUpstream(elsewhere)
  }

  /** Ends what is still open; resolves when no live server is left. */
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

  #closeUpstream(elsewhere: UpstreamServer): void {
    const left = elsewhere.close(AbortSignal.abort())
    this.#closingUpstreams.add(left)
    void left.finally(() => this.#closingUpstreams.delete(left))
  }

  #driftOfClosed(): Drift {
    return (
      this.#closedDrift ?? { answered: 0, leftOver: this.#setup.script.leftOver(), misses: [], notes: [] }
    )
  }

  #setupFor(isOwn: SessionFilter): PlayerSetup {
    const { turns, playing } = this.#options
    const part = this.#setupBySession.get(isOwn) ?? playing(preferTurns(turns, isOwn))
    this.#setupBySession.set(isOwn, part)
    return part
  }
}
