import type { Binding, BindingConsumer, FoundBindings, BindingProducer } from '../bindings/binding.ts'
import { detachedCopy } from './detached.ts'
import { SharedLocations } from './shared-paths.ts'

/** Bindings as they are found: uses of one value of one producer come together. */
export class BindingCollector {
  readonly #bindings = new Map<string, GrowingBinding>()
  readonly #guesses = new Map<string, GrowingBinding>()
  readonly #shared = new SharedLocations()

  add(kind: 'binding' | 'guess', binding: Binding): void {
    const list = kind === 'binding' ? this.#bindings : this.#guesses
    const { value, producer, confidence } = binding
    const key = JSON.stringify([value, producer, confidence])
    const consumers = binding.consumers.map((consumer) => this.#shared.share(consumer))
    const known = list.get(key)
    if (known === undefined) list.set(key, { ...this.#detached(binding), consumers })
    else known.consumers.push(...consumers)
  }

  result(): FoundBindings {
    return { bindings: [...this.#bindings.values()], guesses: [...this.#guesses.values()] }
  }

  #detached(binding: Binding): Binding {
    const shared = (one: BindingProducer): BindingProducer =>
      one.kind === 'message' ? this.#shared.share(one) : one
    const { value, producer, also } = binding
    return { ...binding, value: detachedCopy(value), producer: shared(producer), also: also.map(shared) }
  }
}

interface GrowingBinding extends Binding {
  readonly consumers: BindingConsumer[]
}
