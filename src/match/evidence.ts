import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { RequestTimes } from './comparisons/comparison.ts'
import type { RequestUsage } from './matcher.ts'

export interface TapeLookupOptions {
  /** The turns of the whole tape, of all its servers. */
  readonly turns: TurnStore
  /** When the recording began, as in the tape's header. */
  readonly started: string
  readonly now: () => number
}

/** What a miss report looks up on the tape. */
export class TapeLookup {
  readonly turns: TurnStore
  readonly #started: number
  readonly #now: () => number
  #places: ReadonlyMap<number, number> | undefined

  constructor({ turns, started, now }: TapeLookupOptions) {
    this.turns = turns
    this.#started = Date.parse(started)
    this.#now = now
  }

  /** Looked up when a rule asks for them: the recorded one stands on the tape. */
  timesOf(entry: RequestUsage): RequestTimes {
    const recordedAt = (): number => this.recordedAt(entry) ?? Number.NaN
    return {
      get recorded() {
        return recordedAt()
      },
      live: this.#now(),
    }
  }

  /** In milliseconds since 1970; undefined when the tape does not say. */
  recordedAt({ frame }: RequestUsage): number | undefined {
    const at = this.#started + (this.turnAt(frame)?.trigger?.t ?? Number.NaN)
    return Number.isNaN(at) ? undefined : at
  }

  /** The turn that a request in this frame set off. */
  turnAt(frame: number): Turn | undefined {
    const place = this.placeOf(frame)
    return place === undefined ? undefined : this.turns.turn(place)
  }

  /** The place of the turn that a request in this frame set off. */
  placeOf(frame: number): number | undefined {
    const place = findPlaceByFrame(this.turns, frame)
    if (place !== undefined) return place
    this.#places ??= placesByFrame(this.turns)
    return this.#places.get(frame)
  }

  hasOtherServer(server: string): boolean {
    return this.turns.kinds().some((kind) => kind.trigger === 'request' && kind.server !== server)
  }
}

// The frames of most tapes are in order.
function findPlaceByFrame(turns: TurnStore, frame: number): number | undefined {
  let low = 0
  let high = turns.size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (turns.outline(middle).frame < frame) low = middle + 1
    else high = middle
  }
  return low < turns.size && turns.outline(low).frame === frame ? low : undefined
}

// One look at the whole tape, at the first miss: on a long tape there should be no other.
function placesByFrame(turns: TurnStore): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (let place = 0; place < turns.size; place++) places.set(turns.outline(place).frame, place)
  return places
}
