import type { TurnStep, Turn } from '../tape/turn.ts'

const MAX_CACHED_TURNS = 256
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024

/** The turns that were read last, as far as there is room for them. */
export class RecentTurnCache {
  readonly #turns = new Map<number, Turn>()
  #characters = 0

  get(place: number): Turn | undefined {
    return this.#turns.get(place)
  }

  add(place: number, turn: Turn): void {
    this.#turns.set(place, turn)
    this.#characters += textLengthOf(turn)
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_CACHED_TURNS && this.#characters <= MAX_CACHED_CHARACTERS) return
      this.#drop(oldest)
    }
  }

  #drop(place: number): void {
    const turn = this.#turns.get(place)
    this.#turns.delete(place)
    if (turn !== undefined) this.#characters -= textLengthOf(turn)
  }
}

function textLengthOf({ trigger, steps }: Turn): number {
  return steps.reduce((sum, step) => sum + stepText(step).length, trigger?.text.length ?? 0)
}

function stepText(step: TurnStep): string {
  return step.kind === 'ask' ? step.request.text : step.message.text
}
