import type { ReelayError } from '../errors.ts'
import type { Fault, FaultActions, FaultContext } from './fault.ts'
import { FAULT_KINDS } from './kinds/registry.ts'
import {
  describeSelector,
  parseSelector,
  type RequestSelector,
  invalidSetting,
  locateInProgram,
  readEntries,
  requireKnownKeys,
  requireObject,
  type EntryLocator,
  type RuleEntry,
  matchesSelector,
  type MethodCall,
} from './request-rules.ts'
import { describeRequest } from '../match/describe-request.ts'
import { DEFAULT_SEED, seededRandom } from '../seeded-random.ts'
import { exchangeLabel, type NumberedMessage, type Turn, type TurnStore } from '../tape/turns.ts'
import { escapeControlChars, suggestName } from '../text.ts'

/** A fault as written in a rule file or in code: which requests it applies to, and one kind of fault with its value. */
export interface FaultSetting extends RequestSelector, FaultOccurrence {
  /** `delay: '2s'`, `error: { code, message }`, … or `oneOf: [{ timeout: true }, …]`. */
  readonly [kind: string]: unknown
}

/** Which of the selected requests fail. By default all of them. */
interface FaultOccurrence {
  /** Only the nth request, counted from 1. */
  readonly nth?: number
  /** Only the first n requests. */
  readonly first?: number
  /** Only the requests after the first n. */
  readonly after?: number
  /** Every nth request. */
  readonly every?: number
  /** The probability that a request fails, from 0 to 1. The same seed selects the same requests. */
  readonly probability?: number
}

export interface FaultRule {
  readonly when: RequestSelector & FaultOccurrence
  /** The fault, or a list from which one is drawn for each request. */
  readonly fault: Fault | readonly Fault[]
  /** Where the rule was written, for error messages. */
  readonly at: string
}

export function parseFaultRules(
  value: unknown,
  locate: EntryLocator = locateInProgram,
): readonly FaultRule[] {
  return readEntries(value, 'faults', locate).map((entry) => {
    requireKnownKeys(
      entry,
      [...SELECTOR_KEYS, ...KIND_NAMES, ONE_OF],
      `a rule has a fault, or ${ONE_OF}, and may select requests by ${SELECTOR_KEYS.join(', ')}; reelay faults lists the faults`,
    )
    const when = { ...parseSelector(entry), ...parseOccurrence(entry) }
    return { when, fault: parseRuleFault(entry), at: entry.at }
  })
}

/** Parses faults that were given in code. Rules of a file are parsed already. */
export function toFaultRules(faults: readonly FaultSetting[] | readonly FaultRule[]): readonly FaultRule[] {
  return faults.every(isFaultRule) ? faults : parseFaultRules({ faults })
}

function isFaultRule(fault: FaultSetting | FaultRule): fault is FaultRule {
  return 'when' in fault && 'fault' in fault
}

/** Describes a rule: `each call of search (number 2 only) is never answered`. */
export function describeFaultRule({ when, fault }: FaultRule): string {
  const { nth, first, after, every, probability } = when
  const limits = [
    ...(first === undefined ? [] : [`the first ${first} only`]),
    ...(after === undefined ? [] : [`after the first ${after}`]),
    ...(nth === undefined ? [] : [`number ${nth} only`]),
    ...(every === undefined ? [] : [`one in ${every}`]),
    ...(probability === undefined ? [] : [`with probability ${probability}`]),
  ]
  const limited = limits.length === 0 ? '' : ` (${limits.join(', ')})`
  const effects = faultsOf(fault).map(({ description }) => description)
  return `each ${describeSelector(when)}${limited} ${effects.join(', or ')}`
}

/** Rejects faults that need an action which is not among `supported`. `hint` says what to do instead. */
export function requireSupportedFaults(
  rules: readonly FaultRule[],
  supported: FaultActions,
  hint: (fault: Fault) => string,
): void {
  for (const { fault: ruleFault, at } of rules)
    for (const fault of faultsOf(ruleFault)) {
      if (fault.needs === undefined || supported[fault.needs] !== undefined) continue
      throw invalidSetting(at, `the fault "${fault.kind}" cannot be used here`, hint(fault))
    }
}

const SELECTOR_KEYS = ['method', 'tool', 'params', 'nth', 'first', 'after', 'every', 'probability']
const KIND_NAMES = FAULT_KINDS.map(({ name }) => name)
const ONE_OF = 'oneOf'

function faultsOf(fault: FaultRule['fault']): readonly Fault[] {
  return 'kind' in fault ? [fault] : fault
}

function parseRuleFault(setting: RuleEntry): FaultRule['fault'] {
  const { entry, at } = setting
  const choices = entry[ONE_OF]
  if (choices === undefined) return parseFault(setting)
  if (KIND_NAMES.some((name) => Object.hasOwn(entry, name))) throw notOneKind(at)
  if (!Array.isArray(choices) || choices.length === 0)
    throw invalidSetting(at, '"oneOf" must be a list of faults', 'write oneOf: [{ timeout: true }, …]')
  return choices.map((choice: unknown) => {
    const chosen = requireObject(choice, at)
    requireKnownKeys(chosen, KIND_NAMES, 'reelay faults lists the faults')
    return parseFault(chosen)
  })
}

function parseFault({ entry, at }: RuleEntry): Fault {
  const [kind, ...others] = FAULT_KINDS.filter(({ name }) => Object.hasOwn(entry, name))
  if (kind === undefined || others.length > 0) throw notOneKind(at)
  const fault = kind.parse(entry[kind.name])
  if (fault === undefined)
    throw invalidSetting(at, `invalid value for "${kind.name}"`, `it takes ${kind.expects}`)
  return { kind: kind.name, ...fault }
}

function notOneKind(at: string): ReelayError {
  const kinds = [...KIND_NAMES, ONE_OF].join(', ')
  return invalidSetting(at, 'a fault needs exactly one kind', `the kinds are ${kinds}`)
}

function parseOccurrence({ entry, at }: RuleEntry): FaultOccurrence {
  const { probability } = entry
  const counts = ['nth', 'first', 'after', 'every'].flatMap((name) => {
    const count = entry[name]
    if (count === undefined) return []
    if (!isCount(count)) throw invalidSetting(at, `"${name}" is not a whole number above 0`)
    return [[name, count] as const]
  })
  if (probability !== undefined && !isProbability(probability))
    throw invalidSetting(at, '"probability" is not a number from 0 to 1')
  return { ...Object.fromEntries(counts), ...(probability !== undefined && { probability }) }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function isProbability(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}

/** The last part of a name, if JSON can spell it otherwise only with Unicode escapes; a slash may be escaped in another way. */
function plainPartOf(name: string | undefined): string | undefined {
  return /(?:^|\/)([\w-]+)$/.exec(name ?? '')?.[1]
}

/** The faults of one session: counts its requests and applies the rules to them. */
export class SessionFaults {
  readonly #counters: readonly FaultRuleCounter[]
  readonly #serverCounters: readonly FaultRuleCounter[]
  readonly #random: () => number
  readonly #applied: string[] = []
  readonly #onCancel = new Map<string, (() => void)[]>()
  readonly #cancelled = new Set<string>()

  constructor(rules: readonly FaultRule[], seed: number) {
    const random = seededRandom(seed)
    this.#random = random
    this.#counters = rules.map((rule) => new FaultRuleCounter(rule, random))
    this.#serverCounters = this.#counters.filter(
      ({ rule: { when } }) => when.method !== undefined && SERVER_REQUESTS.includes(when.method),
    )
  }

  /** Whether a rule applies to requests of the server, such as an elicitation. */
  get selectsServerRequests(): boolean {
    return this.#serverCounters.length > 0
  }

  /** Returns false if no rule can apply to a request of the client, because its JSON text has none of the names that the rules select. */
  mayApply(contains: (text: string) => boolean): boolean {
    return this.#counters.some(({ rule: { when } }) => {
      const name = plainPartOf(when.tool ?? when.method)
      return name === undefined || contains(name)
    })
  }

  /**
   * Counts a request and returns the fault for it, that of the first rule that applies. A request of the server is selected
   * only by rules that name its method.
   */
  faultFor(call: MethodCall, from: 'client' | 'server' = 'client'): Fault | undefined {
    const fault = firstFault(from === 'client' ? this.#counters : this.#serverCounters, call)
    if (fault !== undefined) this.#applied.push(`${describeRequest(call)} ${fault.description}`)
    return fault
  }

  /** Applies a fault. `key` identifies the request, so that it can be cancelled. */
  apply<Source>(
    fault: Fault,
    key: string,
    context: Omit<FaultContext<Source>, 'random' | 'isCancelled' | 'onCancel'>,
  ): void {
    this.#cancelled.delete(key)
    this.#onCancel.delete(key)
    fault.apply({
      ...context,
      random: this.#random,
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

const SERVER_REQUESTS = ['elicitation/create', 'sampling/createMessage', 'roots/list']

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
    if (when.first !== undefined && this.#seen > when.first) return undefined
    if (when.after !== undefined && this.#seen <= when.after) return undefined
    if (when.every !== undefined && this.#seen % when.every !== 0) return undefined
    if (when.probability !== undefined && this.#random() >= when.probability) return undefined
    return 'kind' in fault ? fault : fault[Math.floor(this.#random() * fault.length)]
  }
}

/** Every rule counts every request, also those that an earlier rule applies to. */
function firstFault(counters: readonly FaultRuleCounter[], call: MethodCall): Fault | undefined {
  return counters.map((counter) => counter.faultFor(call)).find((fault) => fault !== undefined)
}

/** Says which rules name a method, a tool or params that are not on the tape. Such a name is most often misspelled. */
export function unmatchedFaults(rules: readonly FaultRule[], turns: TurnStore): readonly string[] {
  const [methods, tools] = [new Set<string>(), new Set<string>()]
  for (let place = 0; place < turns.size; place++) {
    const { method, name } = turns.summary(place)
    methods.add(method)
    if (method === 'tools/call' && name !== undefined) tools.add(name)
  }
  const missed = rules.filter((rule) => rule.when.params !== undefined && !matchesAny(rule, turns))
  return rules.flatMap((rule) => {
    const {
      when: { method, tool },
      at,
    } = rule
    const unknown = [
      ...(method === undefined || methods.has(method)
        ? []
        : [`${at}: the tape has no ${method}${suggestName(method, [...methods])}`]),
      ...(tool === undefined || tools.has(tool)
        ? []
        : [`${at}: the tape has no call of ${tool}${suggestName(tool, [...tools])}`]),
    ]
    const hasNoCall = unknown.length === 0 && missed.includes(rule)
    return hasNoCall ? [`${at}: no request of the tape has the params of this fault`] : unknown
  })
}

// A client may be waiting for the first response.
const MOST_SEARCHED = 10_000

function matchesAny({ when }: FaultRule, turns: TurnStore): boolean {
  if (turns.size > MOST_SEARCHED) return true
  for (let place = 0; place < turns.size; place++) {
    const message = turns.at(place)?.trigger?.message
    if (message?.kind === 'request' && matchesSelector(when, message)) return true
  }
  return false
}

/** The requests of a recorded session that a rule would apply to. */
export interface FaultForecast {
  /** A description of the rule. */
  readonly fault: string
  readonly strikes: readonly (NumberedMessage & { readonly request: string })[]
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
  for (const { trigger, exchange } of turns) {
    if (trigger?.message.kind !== 'request') continue
    const { message, n } = trigger
    const [first] = forecasts.filter(({ counter }) => counter.faultFor(message) !== undefined)
    first?.strikes.push({
      frame: n,
      ...(exchange !== undefined && { exchange }),
      request: describeRequest(message),
    })
  }
  return forecasts.map(({ fault, strikes }) => ({ fault, strikes }))
}

export function formatForecast(forecasts: readonly FaultForecast[]): string {
  const lines = forecasts.flatMap(({ fault, strikes }, index) => [
    `${index + 1}. ${fault}`,
    ...strikes.map((strike) => `   ${exchangeLabel(strike)} ${strike.request}`),
    ...(strikes.length === 0 ? ['   applies to no request of this tape'] : []),
  ])
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}
