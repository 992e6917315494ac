import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Times } from './comparisons/comparison.ts'
import type { Entry } from './matcher.ts'

export interface EvidenceOptions {
  /** The turns of the whole tape, of all its servers. */
  readonly turns: TurnStore
  /** When the recording began, as in the tape's header. */
  readonly started: string
  readonly now: () => number
}

/** What a miss report looks up on the tape. */
export class Evidence {
  readonly turns: TurnStore
  readonly #started: number
  readonly #now: () => number

  constructor({ turns, started, now }: EvidenceOptions) {
    this.turns = turns
    this.#started = Date.parse(started)
    this.#now = now
  }

  timesOf(entry: Entry): Times {
    return { recorded: this.recordedAt(entry) ?? Number.NaN, live: this.#now() }
  }

  /** In milliseconds since 1970; undefined when the tape does not say. */
  recordedAt({ t, frame }: Entry): number | undefined {
    const at = this.#started + (t ?? this.turnAt(frame)?.trigger?.t ?? Number.NaN)
    return Number.isNaN(at) ? undefined : at
  }

  /** The turn that a request in this frame set off. */
  turnAt(frame: number): Turn | undefined {
    for (let place = 0; place < this.turns.size; place++) {
      if (this.turns.outline(place).frame === frame) return this.turns.turn(place)
    }
    return undefined
  }
}
