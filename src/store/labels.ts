import type { TurnLabel } from './index/tape-index.ts'

/** Numbers the labels of turns, each once. */
export class TurnLabelTable {
  readonly list: TurnLabel[] = []
  /** By method, server and name: to look up three texts takes less time than to join them. */
  readonly #numbers = new Map<string, Map<string, Map<string | undefined, number>>>()

  numberOf(server: string, method: string, name?: string): number {
    const ofMethod = this.#numbers.get(method) ?? new Map<string, Map<string | undefined, number>>()
    const ofServer = ofMethod.get(server) ?? new Map<string | undefined, number>()
    const known = ofServer.get(name)
    if (known !== undefined) return known
    this.#numbers.set(method, ofMethod.set(server, ofServer.set(name, this.list.length)))
    return this.list.push({ server, method, name }) - 1
  }
}
