import type { Turn } from '../../tape/turn.ts'
import type { Clock } from './clock.ts'

// A client that waits for this answer before it makes the next call would wait for ever.
const MAX_WAIT_MS = 1000

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
  readonly #answers: readonly AnsweredTurn[]
  readonly #answered = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #givenUp = new Set<string>()

  constructor(options: AnswerOrderOptions) {
    this.#options = options
    this.#answers = [...options.turns].filter(isAnswered).toSorted((a, b) => a.response.n - b.response.n)
  }

  markAnswered(turn: Turn): void {
    this.#answered.add(turnKey(turn))
  }

  mayAnswer(turn: Turn): boolean {
    const first = this.#unansweredBefore(turn)
    if (first === undefined || this.#givenUp.has(turnKey(turn))) return true
    if (!this.#waiting.has(turnKey(turn)))
      this.#options.clock.after(MAX_WAIT_MS, () => this.#stopWaiting(turn))
    this.#waiting.add(turnKey(turn))
    return false
  }

  #stopWaiting(turn: Turn): void {
    const first = this.#unansweredBefore(turn)
    if (first === undefined || this.#answered.has(turnKey(turn))) return
    this.#givenUp.add(turnKey(turn))
    this.#options.onGiveUp(turn, first)
  }

  #unansweredBefore(turn: Turn): Turn | undefined {
    if (!isAnswered(turn)) return undefined
    const { trigger, response } = turn
    return this.#answers
      .slice(this.#indexAfter(trigger.n), this.#indexAfter(response.n - 1))
      .find((other) => isSameConnection(other, turn) && !this.#answered.has(turnKey(other)))
  }

  #indexAfter(frame: number): number {
    let [low, high] = [0, this.#answers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#answers[middle]?.response.n ?? 0) > frame) high = middle
      else low = middle + 1
    }
    return low
  }
}

type AnsweredTurn = Turn & { readonly [Key in 'trigger' | 'response']: NonNullable<Turn[Key]> }

function isAnswered(turn: Turn): turn is AnsweredTurn {
  return turn.trigger !== undefined && turn.response !== undefined
}

function isSameConnection({ trigger: one }: AnsweredTurn, { trigger: other }: AnsweredTurn): boolean {
  return one.server === other.server && one.conn === other.conn
}

/** A turn may be read again from the disk, and then is another object. */
function turnKey({ trigger }: Turn): string {
  return `${trigger?.n}.${trigger?.item}`
}
