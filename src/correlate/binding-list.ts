import type { Binding, Consumer, Correlation } from './binding.ts'
import { detached } from './detached.ts'

/** Bindings as they are found: uses of one value of one producer come together. */
export class BindingList {
  readonly #bindings = new Map<string, Growing>()
  readonly #guesses = new Map<string, Growing>()

  add(kind: 'binding' | 'guess', binding: Binding): void {
    const list = kind === 'binding' ? this.#bindings : this.#guesses
    const { value, producer, confidence } = binding
    const key = JSON.stringify([value, producer, confidence])
    const consumers = detached([...binding.consumers])
    const known = list.get(key)
    if (known === undefined) list.set(key, { ...detached(binding), consumers })
    else known.consumers.push(...consumers)
  }

  correlation(): Correlation {
    return { bindings: [...this.#bindings.values()], guesses: [...this.#guesses.values()] }
  }
}

interface Growing extends Binding {
  readonly consumers: Consumer[]
}
