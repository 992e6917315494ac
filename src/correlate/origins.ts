import { formatPath, type PathPattern } from '../json/path.ts'
import type { Binding } from '../bindings/binding.ts'

/** Says, for a value in a recorded request, which binding it comes from. */
export class BindingsByConsumer {
  readonly #bindings = new Map<string, Binding[]>()

  constructor(bindings: readonly Binding[]) {
    for (const binding of bindings) {
      for (const { frame, path } of binding.consumers) {
        const key = consumerKey(frame, path)
        this.#bindings.set(key, [...(this.#bindings.get(key) ?? []), binding])
      }
    }
  }

  /** The bindings of the value at this path of the request in this frame; several for a composite. */
  of(frame: number, path: PathPattern): readonly Binding[] {
    return this.#bindings.get(consumerKey(frame, path)) ?? []
  }
}

function consumerKey(frame: number, path: PathPattern): string {
  return `${frame} ${formatPath(path)}`
}
