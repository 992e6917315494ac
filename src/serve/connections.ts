import type { Turn } from '../tape/turn.ts'
import type { Drift } from './drift.ts'
import { joinDrifts } from './joined-drift.ts'
import { Player, type PlayerOptions } from './player.ts'
import { recordedSessions } from './recorded-sessions.ts'

/** The connections to one recorded server. Each has its own cursors; the account is one. */
export class Connections {
  readonly #options: Omit<PlayerOptions, 'send'>
  readonly #sessions: readonly ReadonlySet<Turn>[]
  readonly #open = new Set<Player>()
  #ended: Drift | undefined
  #begun = 0

  constructor(options: Omit<PlayerOptions, 'send'>) {
    this.#options = options
    const sessions = recordedSessions(options.script.turns)
    this.#sessions = sessions.length > 1 ? sessions : []
  }

  /** The nth session of this run is answered with what the nth recorded one got, before anything else that was recorded. */
  beginSession(send: (text: string) => void): Player {
    const session = this.#sessions[this.#begun++ % Math.max(this.#sessions.length, 1)]
    return this.#begin(send, session)
  }

  /** A client that has no session; what `own` holds is said to it before anything else that was recorded. */
  begin(own: ReadonlySet<Turn> | undefined, send: (text: string) => void): Player {
    return this.#begin(send, own)
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
    return this.#ended ?? { answered: 0, leftOver: this.#options.script.leftOver(), misses: [], notes: [] }
  }

  #begin(send: (text: string) => void, session?: ReadonlySet<Turn>): Player {
    const player = new Player({ ...this.#options, script: this.#options.script.another(session), send })
    this.#open.add(player)
    return player
  }
}
