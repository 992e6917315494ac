import type { TurnStore } from '../tape/turn-store.ts'
import type { Drift } from './drift.ts'
import type { UpstreamServer } from './upstream/upstream.ts'
import { mergeSessionDrifts } from './joined-drift.ts'
import { FAULTS_PER_CHANNEL } from './player/reply-channel.ts'
import { SessionPlayer, type SessionPlayerOptions } from './player/session-player.ts'
import { sessionFilters, type SessionFilter } from './recorded-sessions.ts'
import { preferTurns } from './player/turn-filters.ts'

export interface ClientSessionsOptions {
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
    const player = new SessionPlayer({ ...part, ...live, link: FAULTS_PER_CHANNEL, script, send, later })
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
