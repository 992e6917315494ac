import { serverName } from '../record/header.ts'

/** Names servers by their commands: one command has one name, and two commands never share one. */
export class ServerNames {
  readonly #names = new Map<string, string>()

  nameOf(command: readonly string[]): string {
    const key = JSON.stringify(command)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const name = this.#free(serverName(command))
    this.#names.set(key, name)
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
