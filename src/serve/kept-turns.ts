import { requestKey } from '../match/key.ts'
import type { Turn } from '../tape/turn.ts'
import type { Call } from './request-selector.ts'

/** The turns whose answers a fault kept from the client: when it asks again, it gets them. */
export class KeptTurns {
  readonly #byKey = new Map<string, Turn[]>()

  keep(call: Call, turn: Turn): void {
    const key = keyOf(call)
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), turn])
  }

  take(call: Call): Turn | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(keyOf(call))?.shift()
  }
}

function keyOf({ method, params }: Call): string {
  return requestKey({ server: '', method, params })
}
