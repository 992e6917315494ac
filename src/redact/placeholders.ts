import { TokenGenerator } from './token-generator.ts'
import type { RedactionKey } from './key.ts'
import { isTooShortToSign, shapeOf } from './shapes.ts'

/** Gives each value its stand-in: the same one every time, of the same shape, which nobody can trace back without the key. */
export class Placeholders {
  readonly #tokens: TokenGenerator
  readonly #byValue = new Map<string, string>()

  constructor({ hmac }: RedactionKey) {
    this.#tokens = new TokenGenerator(hmac)
  }

  /** How many values have been replaced. */
  get count(): number {
    return this.#byValue.size
  }

  get values(): readonly string[] {
    return [...this.#byValue.keys()]
  }

  forValue(value: string): string {
    const known = this.#byValue.get(value)
    if (known !== undefined) return known
    const made = shapeOf(value).placeholderFor(value, this.#tokens)
    this.#byValue.set(value, made)
    return made
  }

  /** Whether this is a stand-in of this key already. A short number can carry no mark: whether to take it for one is the caller's to say. */
  isPlaceholder(value: string, areShortOnes: boolean): boolean {
    if (isTooShortToSign(value)) return areShortOnes
    return shapeOf(value).isPlaceholder(value, this.#tokens)
  }
}
