import { Ink } from './ink.ts'
import type { RedactionKey } from './key.ts'
import { isShort, shapeOf } from './shapes.ts'

/** Gives each value its stand-in: the same one every time, of the same shape, which nobody can trace back without the key. */
export class StandIns {
  readonly #ink: Ink
  readonly #made = new Map<string, string>()

  constructor({ hmac }: RedactionKey) {
    this.#ink = new Ink(hmac)
  }

  /** How many values have been replaced. */
  get count(): number {
    return this.#made.size
  }

  get values(): readonly string[] {
    return [...this.#made.keys()]
  }

  of(value: string): string {
    const known = this.#made.get(value)
    if (known !== undefined) return known
    const made = shapeOf(value).standIn(value, this.#ink)
    this.#made.set(value, made)
    return made
  }

  /** Whether this is a stand-in of this key already. A short number can carry no mark: whether to take it for one is the caller's to say. */
  isOne(value: string, areShortOnes: boolean): boolean {
    if (isShort(value)) return areShortOnes
    return shapeOf(value).isStandIn(value, this.#ink)
  }
}
