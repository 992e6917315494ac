import type { Turn } from '../tape/turn.ts'
import type { Clock } from './clock.ts'

// A client that waits for this answer before it makes the next call would wait for ever.
const PATIENCE_MS = 1000

export interface AnswerOrderOptions {
  readonly turns: Iterable<Turn>
  readonly clock: Clock
  /** Told when an answer was held back in vain: `first` should have come before it, and may be given now. */
  readonly onGiveUp: (turn: Turn, first: Turn) => void
}

/** Holds an answer back until the calls that overlapped with it on the tape, and were answered before it, are answered. */
export class AnswerOrder {
  readonly #options: AnswerOrderOptions
  /** By the frame of their answer. */
  readonly #answers: readonly Answered[]
  readonly #given = new Set<string>()
  readonly #held = new Set<string>()
  readonly #givenUp = new Set<string>()

  constructor(options: AnswerOrderOptions) {
    this.#options = options
    this.#answers = [...options.turns].filter(isAnswered).toSorted((a, b) => a.response.n - b.response.n)
  }

  given(turn: Turn): void {
    this.#given.add(nameOf(turn))
  }

  isOpen(turn: Turn): boolean {
    const first = this.#waitsFor(turn)
    if (first === undefined || this.#givenUp.has(nameOf(turn))) return true
    if (!this.#held.has(nameOf(turn))) this.#options.clock.after(PATIENCE_MS, () => this.#giveUp(turn))
    this.#held.add(nameOf(turn))
    return false
  }

  #giveUp(turn: Turn): void {
    const first = this.#waitsFor(turn)
    if (first === undefined || this.#given.has(nameOf(turn))) return
    this.#givenUp.add(nameOf(turn))
    this.#options.onGiveUp(turn, first)
  }

  #waitsFor(turn: Turn): Turn | undefined {
    if (!isAnswered(turn)) return undefined
    const { trigger, response } = turn
    return this.#answers
      .slice(this.#firstAfter(trigger.n), this.#firstAfter(response.n - 1))
      .find((other) => isOfSameLink(other, turn) && !this.#given.has(nameOf(other)))
  }

  #firstAfter(frame: number): number {
    let [low, high] = [0, this.#answers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#answers[middle]?.response.n ?? 0) > frame) high = middle
      else low = middle + 1
    }
    return low
  }
}

type Answered = Turn & { readonly [Key in 'trigger' | 'response']: NonNullable<Turn[Key]> }

function isAnswered(turn: Turn): turn is Answered {
  return turn.trigger !== undefined && turn.response !== undefined
}

function isOfSameLink({ trigger: one }: Answered, { trigger: other }: Answered): boolean {
  return one.server === other.server && one.conn === other.conn
}

/** A turn may be read again from the disk, and then is another object. */
function nameOf({ trigger }: Turn): string {
  return `${trigger?.n}.${trigger?.item}`
}
