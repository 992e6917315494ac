import type { Step, Turn } from '../tape/turn.ts'

const MOST_TURNS = 256
const MOST_CHARACTERS = 8 * 1024 * 1024

/** The turns that were read last, as far as there is room for them. */
export class RecentTurns {
  readonly #turns = new Map<number, Turn>()
  #characters = 0

  get(place: number): Turn | undefined {
    return this.#turns.get(place)
  }

  add(place: number, turn: Turn): void {
    this.#turns.set(place, turn)
    this.#characters += lengthOf(turn)
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MOST_TURNS && this.#characters <= MOST_CHARACTERS) return
      this.#drop(oldest)
    }
  }

  #drop(place: number): void {
    const turn = this.#turns.get(place)
    this.#turns.delete(place)
    if (turn !== undefined) this.#characters -= lengthOf(turn)
  }
}

function lengthOf({ trigger, steps }: Turn): number {
  return steps.reduce((sum, step) => sum + textOf(step).length, trigger?.text.length ?? 0)
}

function textOf(step: Step): string {
  return step.kind === 'ask' ? step.request.text : step.message.text
}
