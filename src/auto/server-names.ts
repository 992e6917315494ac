/** Names servers: one command or URL has one name, and two never share one. */
export class ServerNames {
  readonly #names = new Map<string, string>()

  /** `wanted` is the name that it gets unless another has it. */
  nameOf(key: string | readonly string[], wanted: string): string {
    const known = this.#names.get(JSON.stringify(key))
    if (known !== undefined) return known
    const name = this.#free(wanted)
    this.#names.set(JSON.stringify(key), name)
    return name
  }

  #free(base: string): string {
    const taken = new Set(this.#names.values())
    for (let copy = 1; ; copy++) {
      const name = copy === 1 ? base : `${base}-${copy}`
      if (!taken.has(name)) return name
    }
  }
}
