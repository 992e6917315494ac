import type { Path } from '../wire/path.ts'
import { dueOn, fittingShelves, type Fit } from './fitting.ts'
import { isFreelyAsked } from './freely-asked.ts'
import type { Asked } from './key.ts'
import type { Entry, Matcher, MatchOutcome, RecordedRequest, RequestKind, WantedEntries } from './matcher.ts'
import type { Matching } from './matching.ts'
import { distinctKinds, EVERY, kindOf } from './request-kinds.ts'
import type { Recording, Shelf, Shelves } from './shelves.ts'

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
    return this.#outcomeOf(asked, fits)
  }

  kinds(): readonly RequestKind[] {
    return distinctKinds(this.#shelves.all().map(({ request }) => kindOf(request)))
  }

  entries({ isMeant }: Pick<WantedEntries, 'isMeant'> = EVERY): readonly Entry[] {
    const shelves = this.#shelves.all().filter(({ request }) => isMeant(kindOf(request)))
    return shelves.map((shelf) => this.#entryOf(shelf))
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

  #outcomeOf(asked: Asked, fits: readonly Fit[]): MatchOutcome {
    const { method } = asked
    const answered = fits.map(({ shelf }) => shelf).filter(({ recordings }) => recordings.length > 0)
    const [best] = answered
    if (best === undefined) return this.#unanswered(fits)
    const due = answered.find((shelf) => this.#isDue(shelf, method))
    if (due !== undefined) return this.#use(asked, due)
    if (isFreelyAsked(method)) return this.#play(asked, best, best.recordings.at(-1))
    const used = answered.find((shelf) => this.#usedOf(shelf) > 0)
    if (this.permissive && used !== undefined) return this.#repeat(asked, used)
    const later = answered.find((shelf) => this.#isLeft(shelf))
    if (later !== undefined) return { kind: 'out-of-order', entry: this.#entryOf(later) }
    return { kind: 'exhausted', entry: this.#entryOf(best) }
  }

  #unanswered([nearest]: readonly Fit[]): MatchOutcome {
    if (nearest === undefined) return { kind: 'unknown' }
    return { kind: 'unanswered', entry: this.#entryOf(nearest.shelf) }
  }

  #isDue(shelf: Shelf, method: string): boolean {
    if (this.matching.strategy.inOrder === undefined || isFreelyAsked(method)) return this.#isLeft(shelf)
    return this.#shelves.inOrder[this.#passed]?.shelf === shelf
  }

  #isLeft(shelf: Shelf): boolean {
    return this.#usedOf(shelf) < shelf.recordings.length
  }

  #use(asked: Asked, shelf: Shelf): MatchOutcome {
    const recording = shelf.recordings[this.#usedOf(shelf)]
    this.#used.set(shelf, this.#usedOf(shelf) + 1)
    if (!isFreelyAsked(shelf.request.method)) this.#passed++
    return this.#play(asked, shelf, recording)
  }

  #repeat(asked: Asked, shelf: Shelf): MatchOutcome {
    const outcome = this.#play(asked, shelf, shelf.recordings[this.#usedOf(shelf) - 1])
    return outcome.kind === 'hit' ? { ...outcome, repeated: true } : outcome
  }

  #play(asked: Asked, shelf: Shelf, recording: Recording | undefined): MatchOutcome {
    const turn = recording === undefined ? undefined : this.#shelves.turnOf(recording)
    if (turn === undefined) return { kind: 'unanswered', entry: this.#entryOf(shelf) }
    const { matching } = this
    if (matching.keyOf(shelf.request) === matching.keyOf(asked)) return { kind: 'hit', turn, repeated: false }
    const loose = matching.strategy.isLoose ? `match ${matching.strategy.name}` : 'a rule'
    return { kind: 'hit', turn, repeated: false, loose }
  }

  #usedOf(shelf: Shelf): number {
    return this.#used.get(shelf) ?? 0
  }

  #entryOf(shelf: Shelf): Entry {
    const { request, recordings, unanswered } = shelf
    const used = this.#usedOf(shelf)
    const { frame } = dueOn(shelf, (other) => this.#usedOf(other)) ?? request
    return { request, answers: recordings.length, used, frame, unanswered }
  }
}
