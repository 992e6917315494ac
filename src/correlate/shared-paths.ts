import type { ValueLocation } from '../bindings/binding.ts'
import { detachedCopy } from './detached.ts'

const MOST_SHARED = 10_000

/** Ways into messages: calls of one tool have the same, and thousands of bindings share a few. */
export class SharedLocations {
  readonly #known = new Map<string, ValueLocation>()

  /** The same place, with what it shares with others; nothing of it holds on to the message that it was found in. */
  share<Place extends ValueLocation>(place: Place): Place {
    const { path, inside } = place
    const key = JSON.stringify([path, inside])
    const known = this.#known.get(key) ?? detachedCopy({ path, inside })
    if (this.#known.size < MOST_SHARED) this.#known.set(key, known)
    return { ...place, ...known }
  }
}
