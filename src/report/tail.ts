import {
  summarizeExchange,
  exchangeRow,
  exchangeExtras,
  exchangeTitles,
  exchangesInTurns,
  MissingResponses,
  withMissingResponses,
  type ExchangeFacts,
} from './exchanges.ts'
import { alignRows, type TableCell } from './table.ts'
import type { Frame } from '../tape/frame.ts'
import { TurnBuilder } from '../tape/turn-builder.ts'
import type { Turn } from '../tape/turns.ts'

/** Follows a tape that is being written and returns each exchange when it is complete. */
export class ExchangeFollower {
  readonly #builder = new TurnBuilder()
  readonly #open = new Map<Turn, number>()
  readonly #missing = new MissingResponses()
  #turnsSeen = 0
  #requests = 0

  /** Adds a frame and returns the exchanges that it completes. */
  add(frame: Frame): readonly ExchangeFacts[] {
    this.#builder.add(frame)
    // After the body of an HTTP error, and after some events, no response can come.
    const mayHaveFailed = this.#missing.add(frame) || frame.kind === 'event'
    this.#trackNewTurns()
    return [...this.#open].flatMap(([turn, sequence]) => {
      const { trigger, response, cut } = turn
      const isLost = mayHaveFailed && trigger !== undefined && this.#missing.outcomeOf(trigger) !== undefined
      if (response === undefined && cut === undefined && !isLost) return []
      this.#open.delete(turn)
      return this.#explained(exchangesInTurns([turn])).map((exchange) => ({ ...exchange, sequence }))
    })
  }

  /** The exchanges that have no response. */
  unanswered(): readonly ExchangeFacts[] {
    const open = new Set(this.#open.values())
    return this.#explained(
      exchangesInTurns(this.#builder.turns()).filter(({ sequence }) => open.has(sequence)),
    )
  }

  #explained(exchanges: readonly ExchangeFacts[]): readonly ExchangeFacts[] {
    return withMissingResponses(exchanges, this.#missing)
  }

  #trackNewTurns(): void {
    const turns = this.#builder.turns()
    for (const turn of turns.slice(this.#turnsSeen))
      if (turn.trigger?.message.kind === 'request') this.#open.set(turn, ++this.#requests)
    this.#turnsSeen = turns.length
  }
}

/** Formats exchanges like `inspect`, one at a time, so the columns have fixed widths. */
interface TailFormatter {
  readonly heading: string
  readonly line: (exchange: ExchangeFacts) => string
}

export function createTailFormatter(manyLinks: boolean): TailFormatter {
  const widths = [4, 10, ...(manyLinks ? [16] : []), 32, 9, 0]
  const blank = widths.map((width): TableCell => ({ text: ' '.repeat(width) }))
  const aligned = (row: readonly TableCell[]): string => alignRows([blank, row])[1] ?? ''
  return {
    heading: aligned(exchangeTitles(manyLinks)),
    line: (exchange) => {
      const line = summarizeExchange(exchange)
      return aligned(exchangeRow(line, manyLinks)) + exchangeExtras(line)
    },
  }
}
