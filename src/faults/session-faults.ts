import { describeRequest } from '../match/describe-request.ts'
import { DEFAULT_SEED, seededRandom } from '../seeded-random.ts'
import type { Turn } from '../tape/turns.ts'
import { escapeControlChars } from '../text.ts'
import type { Fault, FaultContext } from './fault.ts'
import { describeFaultRule, type FaultRule } from './fault-rules.ts'
import { matchesSelector, type MethodCall } from './request-selector.ts'

/** The faults of one session: counts its requests and applies the rules to them. */
export class SessionFaults {
  readonly #counters: readonly FaultRuleCounter[]
  readonly #applied: string[] = []
  readonly #onCancel = new Map<string, (() => void)[]>()
  readonly #cancelled = new Set<string>()

  constructor(rules: readonly FaultRule[], seed: number) {
    const random = seededRandom(seed)
    this.#counters = rules.map((rule) => new FaultRuleCounter(rule, random))
  }

  /** Counts a request and returns the fault for it, that of the first rule that applies. */
  faultFor(call: MethodCall): Fault | undefined {
    const fault = firstFault(this.#counters, call)
    if (fault !== undefined) this.#applied.push(`${describeRequest(call)} ${fault.description}`)
    return fault
  }

  /** Applies a fault. `key` identifies the request, so that it can be cancelled. */
  apply<Source>(
    fault: Fault,
    key: string,
    context: Omit<FaultContext<Source>, 'isCancelled' | 'onCancel'>,
  ): void {
    this.#cancelled.delete(key)
    this.#onCancel.delete(key)
    fault.apply({
      ...context,
      isCancelled: () => this.#cancelled.has(key),
      onCancel: (action) => {
        if (this.#cancelled.has(key)) action()
        else this.#onCancel.set(key, [...(this.#onCancel.get(key) ?? []), action])
      },
    })
  }

  cancel(key: string): void {
    this.#cancelled.add(key)
    for (const action of this.#onCancel.get(key) ?? []) action()
    this.#onCancel.delete(key)
  }

  /** Describes the faults that were applied, in the order of the requests. */
  applied(): readonly string[] {
    return this.#applied
  }
}

/** Counts the requests that a rule selects. */
class FaultRuleCounter {
  readonly rule: FaultRule
  readonly #random: () => number
  #seen = 0

  constructor(rule: FaultRule, random: () => number) {
    this.rule = rule
    this.#random = random
  }

  faultFor(call: MethodCall): Fault | undefined {
    const { when, fault } = this.rule
    if (!matchesSelector(when, call)) return undefined
    this.#seen++
    if (when.nth !== undefined && this.#seen !== when.nth) return undefined
    if (when.every !== undefined && this.#seen % when.every !== 0) return undefined
    if (when.probability !== undefined && this.#random() >= when.probability) return undefined
    return 'kind' in fault ? fault : fault[Math.floor(this.#random() * fault.length)]
  }
}

/** Every rule counts every request, also those that an earlier rule applies to. */
function firstFault(counters: readonly FaultRuleCounter[], call: MethodCall): Fault | undefined {
  return counters.map((counter) => counter.faultFor(call)).find((fault) => fault !== undefined)
}

/** The requests of a recorded session that a rule would apply to. */
export interface FaultForecast {
  /** A description of the rule. */
  readonly fault: string
  readonly strikes: readonly { readonly frame: number; readonly request: string }[]
}

/** Predicts what the rules would do to a client that repeats the recorded session. */
export function forecastFaults(
  turns: readonly Turn[],
  rules: readonly FaultRule[],
  seed: number = DEFAULT_SEED,
): readonly FaultForecast[] {
  const random = seededRandom(seed)
  const forecasts = rules.map((rule) => ({
    counter: new FaultRuleCounter(rule, random),
    fault: describeFaultRule(rule),
    strikes: [] as FaultForecast['strikes'][number][],
  }))
  for (const { trigger } of turns) {
    if (trigger?.message.kind !== 'request') continue
    const { message, n } = trigger
    const [first] = forecasts.filter(({ counter }) => counter.faultFor(message) !== undefined)
    first?.strikes.push({ frame: n, request: describeRequest(message) })
  }
  return forecasts.map(({ fault, strikes }) => ({ fault, strikes }))
}

export function formatForecast(forecasts: readonly FaultForecast[]): string {
  const lines = forecasts.flatMap(({ fault, strikes }, index) => [
    `${index + 1}. ${fault}`,
    ...strikes.map(({ frame, request }) => `   #${frame} ${request}`),
    ...(strikes.length === 0 ? ['   applies to no request of this tape'] : []),
  ])
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}
