import type { Spot } from './binding.ts'
import { detached } from './detached.ts'

const MOST = 10_000

/** Ways into messages: calls of one tool have the same, and thousands of bindings share a few. */
export class SharedPaths {
  readonly #known = new Map<string, Spot>()

  /** The same place, with what it shares with others; nothing of it holds on to the message that it was found in. */
  placed<Place extends Spot>(place: Place): Place {
    const { path, inside } = place
    const key = JSON.stringify([path, inside])
    const known = this.#known.get(key) ?? detached({ path, inside })
    if (this.#known.size < MOST) this.#known.set(key, known)
    return { ...place, ...known }
  }
}
