import type { Frame } from '../tape/frame.ts'
import type { Turn } from '../tape/turn.ts'
import { TurnBuilder } from '../tape/turns.ts'
import { exchangesOf, type ExchangeFacts } from './exchange-facts.ts'

/** The exchanges of a tape that is still being written, each as soon as it is complete. */
export class LiveExchanges {
  readonly #builder = new TurnBuilder()
  readonly #open = new Map<Turn, number>()
  #turnsSeen = 0
  #requests = 0

  /** Takes the next frame, and gives what is complete with it. */
  add(frame: Frame): readonly ExchangeFacts[] {
    this.#builder.add(frame)
    this.#noteNewTurns()
    return [...this.#open].flatMap(([turn, sequence]) => {
      if (turn.response === undefined && turn.cut === undefined) return []
      this.#open.delete(turn)
      return exchangesOf([turn]).map((exchange) => ({ ...exchange, sequence }))
    })
  }

  /** What was never answered. */
  rest(): readonly ExchangeFacts[] {
    const open = new Set(this.#open.values())
    return exchangesOf(this.#builder.turns()).filter(({ sequence }) => open.has(sequence))
  }

  #noteNewTurns(): void {
    const turns = this.#builder.turns()
    for (const turn of turns.slice(this.#turnsSeen))
      if (turn.trigger?.message.kind === 'request') this.#open.set(turn, ++this.#requests)
    this.#turnsSeen = turns.length
  }
}
