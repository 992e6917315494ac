import type { Binding, Correlation } from './binding.ts'

const MOST_OTHERS = 3

/** Bindings as they are found: uses of one value of one producer come together. */
export class BindingList {
  readonly #bindings = new Map<string, Binding>()
  readonly #guesses = new Map<string, Binding>()

  add(kind: 'binding' | 'guess', binding: Binding): void {
    const list = kind === 'binding' ? this.#bindings : this.#guesses
    const { value, producer, confidence } = binding
    const key = JSON.stringify([value, producer, confidence])
    const known = list.get(key)
    const also = binding.also.slice(0, MOST_OTHERS)
    list.set(
      key,
      known === undefined
        ? { ...binding, also }
        : { ...known, consumers: [...known.consumers, ...binding.consumers] },
    )
  }

  correlation(): Correlation {
    return { bindings: [...this.#bindings.values()], guesses: [...this.#guesses.values()] }
  }
}
