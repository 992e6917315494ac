import { formatPath, type Path } from '../wire/path.ts'
import type { Binding } from './binding.ts'

/** Says, for a value in a recorded request, which binding it comes from. */
export class Origins {
  readonly #bindings = new Map<string, Binding[]>()

  constructor(bindings: readonly Binding[]) {
    for (const binding of bindings) {
      for (const { frame, path } of binding.consumers) {
        const key = keyOf(frame, path)
        this.#bindings.set(key, [...(this.#bindings.get(key) ?? []), binding])
      }
    }
  }

  /** The bindings of the value at this path of the request in this frame; several for a composite. */
  of(frame: number, path: Path): readonly Binding[] {
    return this.#bindings.get(keyOf(frame, path)) ?? []
  }
}

function keyOf(frame: number, path: Path): string {
  return `${frame} ${formatPath(path)}`
}
