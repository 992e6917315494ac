import type { TurnStore } from '../tape/turn-store.ts'
import type { Drift } from './drift.ts'
import { joinDrifts } from './joined-drift.ts'
import { Player, type PlayerOptions } from './player.ts'
import { recordedSessions, type RecordedSession } from './recorded-sessions.ts'
import type { Script } from './script.ts'
import { preferredTurns } from './turn-views.ts'

export interface ConnectionsOptions extends Omit<PlayerOptions, 'send' | 'script'> {
  readonly turns: TurnStore
  readonly scriptOf: (turns: TurnStore) => Script
}

/** The connections to one recorded server. Each has its own cursors; the account is one. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #script: Script
  readonly #sessions: readonly RecordedSession[]
  readonly #scripts = new Map<RecordedSession, Script>()
  readonly #open = new Set<Player>()
  #ended: Drift | undefined
  #begun = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#script = options.scriptOf(options.turns)
    const sessions = recordedSessions(options.turns)
    this.#sessions = sessions.length > 1 ? sessions : []
  }

  /** The nth session of this run is answered with what the nth recorded one got, before anything else that was recorded. */
  beginSession(send: (text: string) => void): Player {
    return this.begin(this.#sessions[this.#begun++ % Math.max(this.#sessions.length, 1)], send)
  }

  /** Another connection; what is its own is said to it before anything else that was recorded. */
  begin(isOwn: RecordedSession | undefined, send: (text: string) => void): Player {
    const { turns: _, scriptOf: __, ...options } = this.#options
    const player = new Player({ ...options, script: this.#scriptFor(isOwn).another(), send })
    this.#open.add(player)
    return player
  }

  /** The connection is over: its account is kept, and nothing else of it. */
  end(player: Player): void {
    if (!this.#open.delete(player)) return
    this.#ended = joinDrifts(this.#endedSoFar(), player.drift())
  }

  drift(): Drift {
    return joinDrifts(this.#endedSoFar(), ...[...this.#open].map((player) => player.drift()))
  }

  #endedSoFar(): Drift {
    return this.#ended ?? { answered: 0, leftOver: this.#script.leftOver(), misses: [], notes: [] }
  }

  #scriptFor(isOwn: RecordedSession | undefined): Script {
    if (isOwn === undefined) return this.#script
    const { turns, scriptOf } = this.#options
    const script = this.#scripts.get(isOwn) ?? scriptOf(preferredTurns(turns, isOwn))
    this.#scripts.set(isOwn, script)
    return script
  }
}
