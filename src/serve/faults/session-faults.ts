import { describeRequest } from '../../match/describe-request.ts'
import { idKey, type Id } from '../../protocol/id.ts'
import type { Request } from '../../protocol/message.ts'
import { FaultRuleCounter, requireSupportedFaults, type FaultRule } from './fault-rules.ts'
import type { Fault, LinkFaultActions, FaultContext } from './fault.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import { seededRandom } from '../../seeded-random.ts'

interface SessionFaultsOptions {
  readonly rules: readonly FaultRule[]
  readonly seed: number
  readonly link: LinkFaultActions
}

/** The faults of one connection: which request is struck by which, and what has become of it. */
export class SessionFaults {
  readonly link: LinkFaultActions
  readonly #counters: readonly FaultRuleCounter[]
  readonly #applied: string[] = []
  readonly #onCancel = new Map<string, (() => void)[]>()
  readonly #cancelled = new Set<string>()

  constructor({ rules, seed, link }: SessionFaultsOptions) {
    requireSupportedFaults(rules, link)
    this.link = link
    const random = seededRandom(seed)
    this.#counters = rules.map((rule) => new FaultRuleCounter(rule, random))
  }

  /** The fault that strikes this request, which is then counted. Every rule sees every request. */
  faultFor(request: Request): Fault | undefined {
    if (this.#counters.length === 0) return undefined
    const striking = this.#counters.filter((counter) => counter.applies(request))
    const fault = striking[0]?.rule.fault
    if (fault !== undefined) this.#applied.push(`${describeRequest(request)} ${fault.description}`)
    return fault
  }

  /** Lets the fault do its work. */
  apply(fault: Fault, { id }: Request, scene: Omit<FaultContext, 'isCancelled' | 'onCancel' | 'link'>): void {
    const key = scene.outlet.scope + idKey(id)
    this.#cancelled.delete(key)
    this.#onCancel.delete(key)
    fault.apply({
      ...scene,
      link: this.link,
      isCancelled: () => this.#cancelled.has(key),
      onCancel: (action) => {
        if (this.#cancelled.has(key)) action()
        else this.#onCancel.set(key, [...(this.#onCancel.get(key) ?? []), action])
      },
    })
  }

  cancel(id: Id, { scope }: ReplyChannel): void {
    if (this.#counters.length === 0) return
    const key = scope + idKey(id)
    this.#cancelled.add(key)
    for (const action of this.#onCancel.get(key) ?? []) action()
    this.#onCancel.delete(key)
  }

  /** What was struck, in words, in the order of the requests. */
  applied(): readonly string[] {
    return this.#applied
  }
}
