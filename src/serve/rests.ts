// Long enough for an idle client to read what was written before, short enough not to be felt.
const REST_MS = 50

/** Short waits in which the client can read what was sent; the end of a run waits for those under way. */
export class Rests {
  readonly #open = new Set<Promise<void>>()

  readonly later = (resume: () => void): void => {
    const rest = new Promise<void>((resolve) => {
      setTimeout(() => {
        resume()
        this.#open.delete(rest)
        resolve()
      }, REST_MS)
    })
    this.#open.add(rest)
  }

  async over(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}
