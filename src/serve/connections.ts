import type { TurnStore } from '../tape/turn-store.ts'
import type { Drift } from './drift.ts'
import type { Elsewhere } from './elsewhere.ts'
import { joinDrifts } from './joined-drift.ts'
import { FAULTS_BY_OUTLET } from './outlet.ts'
import { Player, type PlayerOptions } from './player.ts'
import { recordedSessions, type RecordedSession } from './recorded-sessions.ts'
import { preferredTurns } from './turn-views.ts'

export interface ConnectionsOptions {
  readonly turns: TurnStore
  readonly playing: (turns: TurnStore) => Part
  readonly later: (resume: () => void) => void
  /** What answers a client that the tape cannot: each has its own, because the live server knows its clients apart. */
  readonly elsewhere?: (() => Elsewhere) | undefined
  /** How long that is kept for a client that seems to be gone. */
  readonly keepLiveMs?: number | undefined
}

const KEEP_LIVE_MS = 60_000

type Part = Omit<PlayerOptions, 'send' | 'later'>

/** The connections to one recorded server. Each has its own cursors; the account is one. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #part: Part
  readonly #sessions: readonly RecordedSession[]
  readonly #partOf = new Map<RecordedSession, Part>()
  readonly #open = new Map<Player, Elsewhere | undefined>()
  readonly #leaving = new Set<Promise<void>>()
  #ended: Drift | undefined
  #begun = 0

  constructor(options: ConnectionsOptions) {
    const { turns, playing } = options
    this.#options = options
    this.#part = playing(turns)
    const sessions = recordedSessions(turns)
    this.#sessions = sessions.length > 1 ? sessions : []
  }

  /** How long something is kept for a client that seems to be gone; undefined when there is nothing to keep. */
  get keepLiveMs(): number | undefined {
    const { elsewhere, keepLiveMs = KEEP_LIVE_MS } = this.#options
    return elsewhere === undefined ? undefined : keepLiveMs
  }

  /** The nth session of this run is answered with what the nth recorded one got, before anything else that was recorded. */
  beginSession(send: (text: string) => void): Player {
    return this.begin(this.#sessions[this.#begun++ % Math.max(this.#sessions.length, 1)], send)
  }

  /** Another connection; what is its own is said to it before anything else that was recorded. */
  begin(isOwn: RecordedSession | undefined, send: (text: string) => void): Player {
    const part = isOwn === undefined ? this.#part : this.#preferring(isOwn)
    const script = part.script.another()
    const { later } = this.#options
    const elsewhere = this.#options.elsewhere?.()
    const live = elsewhere && { elsewhere }
    const player = new Player({ ...part, ...live, link: FAULTS_BY_OUTLET, script, send, later })
    this.#open.set(player, elsewhere)
    return player
  }

  /** The connection is over: its account is kept, and nothing else of it. */
  end(player: Player): void {
    const elsewhere = this.#open.get(player)
    if (!this.#open.delete(player)) return
    this.#ended = joinDrifts(this.#endedSoFar(), player.drift())
    if (elsewhere !== undefined) this.#leave(elsewhere)
  }

  /** Ends what is still open; resolves when no live server is left. */
  async close(): Promise<void> {
    for (const player of this.#open.keys()) this.end(player)
    await Promise.all(this.#leaving)
  }

  drift(): Drift {
    return joinDrifts(this.#endedSoFar(), ...[...this.#open.keys()].map((player) => player.drift()))
  }

  #leave(elsewhere: Elsewhere): void {
    const left = elsewhere.over(AbortSignal.abort())
    this.#leaving.add(left)
    void left.finally(() => this.#leaving.delete(left))
  }

  #endedSoFar(): Drift {
    return this.#ended ?? { answered: 0, leftOver: this.#part.script.leftOver(), misses: [], notes: [] }
  }

  #preferring(isOwn: RecordedSession): Part {
    const { turns, playing } = this.#options
    const part = this.#partOf.get(isOwn) ?? playing(preferredTurns(turns, isOwn))
    this.#partOf.set(isOwn, part)
    return part
  }
}
