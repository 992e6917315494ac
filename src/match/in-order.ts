import type { Turn } from '../tape/turn.ts'

/** Recordings of one request in the order in which one connection uses them: those of its own session before all others. */
export class InOrder {
  readonly #first: ReadonlySet<Turn> | undefined
  readonly #ordered = new Map<readonly Turn[], readonly Turn[]>()

  constructor(first: ReadonlySet<Turn> | undefined) {
    this.#first = first
  }

  turnsOf({ turns }: { readonly turns: readonly Turn[] }): readonly Turn[] {
    const first = this.#first
    if (first === undefined || turns.length < 2) return turns
    const known = this.#ordered.get(turns)
    if (known !== undefined) return known
    const ordered = [...turns.filter((turn) => first.has(turn)), ...turns.filter((turn) => !first.has(turn))]
    this.#ordered.set(turns, ordered)
    return ordered
  }
}
