import type { Frame } from '../tape/frame.ts'
import type { Turn } from '../tape/turn.ts'
import { TurnBuilder } from '../tape/turn-builder.ts'
import { exchangesInTurns, type ExchangeFacts } from './exchanges/exchange.ts'

/** The exchanges of a tape that is still being written, each as soon as it is complete. */
export class ExchangeFollower {
  readonly #builder = new TurnBuilder()
  readonly #open = new Map<Turn, number>()
  #turnsSeen = 0
  #requests = 0

  /** Takes the next frame, and gives what is complete with it. */
  add(frame: Frame): readonly ExchangeFacts[] {
    this.#builder.add(frame)
    this.#trackNewTurns()
    return [...this.#open].flatMap(([turn, sequence]) => {
      if (turn.response === undefined && turn.cut === undefined) return []
      this.#open.delete(turn)
      return exchangesInTurns([turn]).map((exchange) => ({ ...exchange, sequence }))
    })
  }

  /** What was never answered. */
  unanswered(): readonly ExchangeFacts[] {
    const open = new Set(this.#open.values())
    return exchangesInTurns(this.#builder.turns()).filter(({ sequence }) => open.has(sequence))
  }

  #trackNewTurns(): void {
    const turns = this.#builder.turns()
    for (const turn of turns.slice(this.#turnsSeen))
      if (turn.trigger?.message.kind === 'request') this.#open.set(turn, ++this.#requests)
    this.#turnsSeen = turns.length
  }
}
