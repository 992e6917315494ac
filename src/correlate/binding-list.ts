import type { Binding, Consumer, Correlation, Producer } from './binding.ts'
import { detached } from './detached.ts'
import { SharedPaths } from './shared-paths.ts'

/** Bindings as they are found: uses of one value of one producer come together. */
export class BindingList {
  readonly #bindings = new Map<string, Growing>()
  readonly #guesses = new Map<string, Growing>()
  readonly #shared = new SharedPaths()

  add(kind: 'binding' | 'guess', binding: Binding): void {
    const list = kind === 'binding' ? this.#bindings : this.#guesses
    const { value, producer, confidence } = binding
    const key = JSON.stringify([value, producer, confidence])
    const consumers = binding.consumers.map((consumer) => this.#shared.placed(consumer))
    const known = list.get(key)
    if (known === undefined) list.set(key, { ...this.#alone(binding), consumers })
    else known.consumers.push(...consumers)
  }

  correlation(): Correlation {
    return { bindings: [...this.#bindings.values()], guesses: [...this.#guesses.values()] }
  }

  #alone(binding: Binding): Binding {
    const shared = (one: Producer): Producer => (one.kind === 'message' ? this.#shared.placed(one) : one)
    const { value, producer, also } = binding
    return { ...binding, value: detached(value), producer: shared(producer), also: also.map(shared) }
  }
}

interface Growing extends Binding {
  readonly consumers: Consumer[]
}
