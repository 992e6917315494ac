import { briefRequest } from '../match/brief.ts'
import { idKey, type Id } from '../wire/id.ts'
import type { Request } from '../wire/message.ts'
import { FaultCounter, requireCarriedOut, type FaultRule } from './fault-rules.ts'
import type { Fault, LinkFaults, Scene } from './faults/fault.ts'
import type { Outlet } from './outlet.ts'
import { seededRandom } from '../seeded-random.ts'

export interface FaultOptions {
  readonly rules: readonly FaultRule[]
  readonly seed: number
  readonly link: LinkFaults
}

/** The faults of one connection: which request is struck by which, and what has become of it. */
export class FaultStrikes {
  readonly link: LinkFaults
  readonly #counters: readonly FaultCounter[]
  readonly #fired: string[] = []
  readonly #onCancel = new Map<string, (() => void)[]>()
  readonly #cancelled = new Set<string>()

  constructor({ rules, seed, link }: FaultOptions) {
    requireCarriedOut(rules, link)
    this.link = link
    const random = seededRandom(seed)
    this.#counters = rules.map((rule) => new FaultCounter(rule, random))
  }

  /** The fault that strikes this request, which is then counted. Every rule sees every request. */
  on(request: Request): Fault | undefined {
    if (this.#counters.length === 0) return undefined
    const striking = this.#counters.filter((counter) => counter.strikes(request))
    const fault = striking[0]?.rule.fault
    if (fault !== undefined) this.#fired.push(`${briefRequest(request)} ${fault.words}`)
    return fault
  }

  /** Lets the fault do its work. */
  strike(fault: Fault, { id }: Request, scene: Omit<Scene, 'isCancelled' | 'onCancel' | 'link'>): void {
    const key = scene.outlet.scope + idKey(id)
    this.#cancelled.delete(key)
    this.#onCancel.delete(key)
    fault.strike({
      ...scene,
      link: this.link,
      isCancelled: () => this.#cancelled.has(key),
      onCancel: (action) => {
        if (this.#cancelled.has(key)) action()
        else this.#onCancel.set(key, [...(this.#onCancel.get(key) ?? []), action])
      },
    })
  }

  cancel(id: Id, { scope }: Outlet): void {
    if (this.#counters.length === 0) return
    const key = scope + idKey(id)
    this.#cancelled.add(key)
    for (const action of this.#onCancel.get(key) ?? []) action()
    this.#onCancel.delete(key)
  }

  /** What was struck, in words, in the order of the requests. */
  fired(): readonly string[] {
    return this.#fired
  }
}
