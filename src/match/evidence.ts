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
  #known: Overview | undefined

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
    const place = this.#overview().places.get(frame)
    return place === undefined ? undefined : this.turns.turn(place)
  }

  hasOtherServerThan(server: string): boolean {
    const { servers } = this.#overview()
    return servers.size > (servers.has(server) ? 1 : 0)
  }

  #overview(): Overview {
    this.#known ??= overviewOf(this.turns)
    return this.#known
  }
}

interface Overview {
  readonly places: ReadonlyMap<number, number>
  readonly servers: ReadonlySet<string>
}

// One look at the whole tape, at the first miss: on a long tape there should be no other.
function overviewOf(turns: TurnStore): Overview {
  const places = new Map<number, number>()
  const servers = new Set<string>()
  for (let place = 0; place < turns.size; place++) {
    const { frame, server, trigger } = turns.outline(place)
    places.set(frame, place)
    if (trigger === 'request') servers.add(server)
  }
  return { places, servers }
}
