import type { Turn } from '../tape/turn.ts'
import type { Drift } from './drift.ts'
import { joinDrifts } from './joined-drift.ts'
import { Player, type PlayerOptions } from './player.ts'
import { recordedSessions } from './recorded-sessions.ts'

/** The connections to one recorded server. Each has its own cursors; the account is one. */
export class Connections {
  readonly #options: Omit<PlayerOptions, 'send'>
  readonly #sessions: readonly (readonly Turn[])[]
  readonly #open = new Set<Player>()
  #ended: Drift
  #begun = 0

  constructor(options: Omit<PlayerOptions, 'send'>) {
    const { script } = options
    this.#options = options
    this.#sessions = recordedSessions(script.turns)
    this.#ended = { answered: 0, leftOver: script.leftOver(), misses: [], notes: [] }
  }

  /** The nth session of this run is answered with what the nth recorded one got, before anything else that was recorded. */
  beginSession(send: (text: string) => void): Player {
    const session = this.#sessions[this.#begun++ % Math.max(this.#sessions.length, 1)]
    return this.#begin(send, session)
  }

  /** A client that has no session; what `own` holds is said to it before anything else that was recorded. */
  begin(own: readonly Turn[], send: (text: string) => void): Player {
    return this.#begin(send, own)
  }

  /** The connection is over: its account is kept, and nothing else of it. */
  end(player: Player): void {
    if (!this.#open.delete(player)) return
    this.#ended = joinDrifts(this.#ended, player.drift())
  }

  drift(): Drift {
    return joinDrifts(this.#ended, ...[...this.#open].map((player) => player.drift()))
  }

  #begin(send: (text: string) => void, session?: readonly Turn[]): Player {
    const player = new Player({ ...this.#options, script: this.#options.script.another(session), send })
    this.#open.add(player)
    return player
  }
}
