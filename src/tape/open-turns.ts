// So few that are over are not worth a look through the rest.
const MIN_CLOSED_TO_DROP = 32

/** The requests of a connection that are open. Where calls overlap all the time, those that are over are let go of as well. */
export class OpenTurns<Turn> {
  #turns: Turn[] = []
  /** Those that lie below an open one, and some that were never here. */
  readonly #closed = new Set<Turn>()

  /** The one that was sent last. */
  get mostRecent(): Turn | undefined {
    let turn = this.#turns.at(-1)
    while (turn !== undefined && this.#closed.delete(turn)) {
      this.#turns.pop()
      turn = this.#turns.at(-1)
    }
    return turn
  }

  add(turn: Turn): void {
    this.#turns.push(turn)
  }

  // Most turns are answered before the next begins: those need not be remembered as over.
  close(turn: Turn): void {
    if (this.#turns.at(-1) === turn) this.#turns.pop()
    else this.#closed.add(turn)
    if (this.#closed.size > Math.max(MIN_CLOSED_TO_DROP, this.#turns.length / 2)) this.#dropClosed()
  }

  #dropClosed(): void {
    this.#turns = this.#turns.filter((turn) => !this.#closed.has(turn))
    this.#closed.clear()
  }
}
