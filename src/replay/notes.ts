/** What is worth a line in the report beside the findings. A server that never stops giving reasons for one fills no memory. */
export class ReplayNotes implements Iterable<string> {
  /** How often each was made. */
  readonly #counts = new Map<string, number>()
  #more = 0

  push(...notes: readonly string[]): void {
    for (const note of notes) {
      const count = this.#counts.get(note) ?? 0
      if (count > 0 || this.#counts.size < MAX_NOTES) this.#counts.set(note, count + 1)
      else this.#more++
    }
  }

  *[Symbol.iterator](): Iterator<string> {
    for (const [note, count] of this.#counts) yield count === 1 ? note : `${note} (${count} times)`
    if (this.#more > 0) yield `and ${this.#more} more notes`
  }
}

/** Nobody reads more of them. */
const MAX_NOTES = 50
