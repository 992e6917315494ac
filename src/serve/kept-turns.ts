import { requestKey } from '../match/request-key.ts'
import type { Turn } from '../tape/turn.ts'
import type { MethodCall } from './faults/request-selector.ts'

/** The turns whose answers a fault kept from the client: when it asks again, it gets them. */
export class WithheldTurns {
  readonly #byKey = new Map<string, Turn[]>()

  add(call: MethodCall, turn: Turn): void {
    const key = withheldKey(call)
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), turn])
  }

  take(call: MethodCall): Turn | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(withheldKey(call))?.shift()
  }
}

function withheldKey({ method, params }: MethodCall): string {
  return requestKey({ server: '', method, params })
}
