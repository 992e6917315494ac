import type { Turn } from '../tape/turn.ts'
import type { Path } from '../wire/path.ts'
import { fittingShelves, type Fit } from './fitting.ts'
import { isFreelyAsked } from './freely-asked.ts'
import type { Asked } from './key.ts'
import type { Entry, Matcher, MatchOutcome, RecordedRequest } from './matcher.ts'
import type { Matching } from './matching.ts'
import type { Shelf, Shelves } from './shelves.ts'

export interface StrategyIndexOptions {
  readonly permissive: boolean
  /** When the tape was started, in milliseconds since 1970. */
  readonly started: number
  readonly now: () => number
}

/** One connection's view of the recorded requests, under any strategy and any rules. */
export class StrategyIndex implements Matcher {
  readonly permissive: boolean
  readonly #shelves: Shelves
  readonly #options: StrategyIndexOptions
  readonly #used = new Map<Shelf, number>()
  /** How many of the recordings in order are used, where order counts. */
  #passed = 0

  constructor(shelves: Shelves, options: StrategyIndexOptions) {
    this.permissive = options.permissive
    this.#shelves = shelves
    this.#options = options
  }

  get matching(): Matching {
    return this.#shelves.matching
  }

  get ignore(): readonly Path[] {
    return this.matching.rules.flatMap(({ path, comparison }) => (comparison.leavesOut ? [path] : []))
  }

  another(): StrategyIndex {
    return new StrategyIndex(this.#shelves, this.#options)
  }

  lookup(asked: Asked): MatchOutcome {
    const fits = fittingShelves(asked, {
      shelves: this.#shelves,
      times: { started: this.#options.started, now: this.#options.now() },
      usedOf: (shelf) => this.#usedOf(shelf),
    })
    const outcome = this.#outcomeOf(asked, fits)
    return outcome.kind === 'hit' ? this.#noted(asked, outcome) : outcome
  }

  entries(): readonly Entry[] {
    return this.#shelves.all().map((shelf) => this.#entryOf(shelf))
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    const passed = new Map<Shelf, number>()
    return this.#shelves.inOrder.flatMap(({ shelf, request }) => {
      const place = passed.get(shelf) ?? 0
      passed.set(shelf, place + 1)
      return place < this.#usedOf(shelf) ? [] : [request]
    })
  }

  next(): RecordedRequest | undefined {
    return this.unconsumedKeys()[0]
  }

  #outcomeOf({ method }: Asked, fits: readonly Fit[]): MatchOutcome {
    const [nearest] = fits
    if (nearest === undefined) return { kind: 'unknown' }
    const answered = fits.filter(({ shelf }) => shelf.turns.length > 0)
    const [best] = answered
    if (best === undefined) return { kind: 'unanswered', entry: this.#entryOf(nearest.shelf) }
    const due = answered.filter(({ shelf }) => this.#isDue(shelf, method))
    const unused = due.find(({ shelf }) => this.#nextOf(shelf) !== undefined)
    if (unused !== undefined) return this.#use(unused.shelf)
    if (isFreelyAsked(method)) return { kind: 'hit', turn: lastOf(best.shelf), repeated: false }
    const used = answered.find(({ shelf }) => this.#usedOf(shelf) > 0)
    if (this.permissive && used !== undefined) return this.#repeat(used.shelf)
    const later = answered.find(({ shelf }) => this.#nextOf(shelf) !== undefined)
    if (later !== undefined) return { kind: 'out-of-order', entry: this.#entryOf(later.shelf) }
    return { kind: 'exhausted', entry: this.#entryOf(best.shelf) }
  }

  #isDue(shelf: Shelf, method: string): boolean {
    if (this.matching.strategy.inOrder === undefined || isFreelyAsked(method)) return true
    return this.#shelves.inOrder[this.#passed]?.shelf === shelf
  }

  #use(shelf: Shelf): MatchOutcome {
    const turn = this.#nextOf(shelf) ?? lastOf(shelf)
    this.#used.set(shelf, this.#usedOf(shelf) + 1)
    if (!isFreelyAsked(shelf.request.method)) this.#passed++
    return { kind: 'hit', turn, repeated: false }
  }

  #repeat(shelf: Shelf): MatchOutcome {
    return { kind: 'hit', turn: shelf.turns[this.#usedOf(shelf) - 1] ?? lastOf(shelf), repeated: true }
  }

  #noted(asked: Asked, outcome: MatchOutcome & { kind: 'hit' }): MatchOutcome {
    const message = outcome.turn.trigger?.message
    if (message?.kind !== 'request') return outcome
    const { strategy } = this.matching
    const recorded = { server: asked.server, method: message.method, params: message.params }
    if (this.matching.keyOf(recorded) === this.matching.keyOf(asked)) return outcome
    return { ...outcome, loose: strategy.isLoose ? `--match ${strategy.name}` : 'by a rule' }
  }

  #nextOf(shelf: Shelf): Turn | undefined {
    return shelf.turns[this.#usedOf(shelf)]
  }

  #usedOf(shelf: Shelf): number {
    return this.#used.get(shelf) ?? 0
  }

  #entryOf(shelf: Shelf): Entry {
    const { request, turns, unanswered } = shelf
    const frame = (this.#nextOf(shelf) ?? turns.at(-1))?.trigger?.n ?? request.frame
    return { request, answers: turns.length, used: this.#usedOf(shelf), frame, unanswered }
  }
}

function lastOf({ turns }: Shelf): Turn {
  const last = turns.at(-1)
  if (last === undefined) throw new RangeError('a shelf without a recording that can be played')
  return last
}
