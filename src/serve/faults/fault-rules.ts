import { FAULT_KINDS } from './registry.ts'
import type { Fault, LinkFaultActions } from './fault.ts'
import {
  matchesSelector,
  describeSelector,
  type MethodCall,
  type RequestSelector,
  readEntries,
  locateInProgram,
  invalidSetting,
  requireKnownKeys,
  parseSelector,
  type RuleEntry,
  type EntryLocator,
} from './request-selector.ts'

/** A fault as it is written in a program or a file: which requests, which of those, and one kind with its value. */
export interface FaultSetting extends RequestSelector {
  /** The only one of the requests that is struck, counted from 1. */
  readonly nth?: number
  /** Every so-and-so-manyth of them. */
  readonly every?: number
  /** How likely each of them is struck, from 0 to 1: the same ones for the same seed. */
  readonly probability?: number
  /** `delay: '2s'`, `error: { code, message }`, … */
  readonly [kind: string]: unknown
}

export interface FaultRule {
  readonly when: RequestSelector & Pick<FaultSetting, 'nth' | 'every' | 'probability'>
  readonly fault: Fault
}

/** Reads faults; `place` says where one stands that makes no sense. */
export function parseFaultRules(value: unknown, place: EntryLocator = locateInProgram): readonly FaultRule[] {
  return readEntries(value, 'faults', place).map(parseFaultRule)
}

/** The rule in words: `each call of search, number 2 only, is never answered`. */
export function describeFaultRule({ when, fault }: FaultRule): string {
  const { nth, every, probability } = when
  const which = [
    ...(nth === undefined ? [] : [`number ${nth} only`]),
    ...(every === undefined ? [] : [`one in ${every}`]),
    ...(probability === undefined ? [] : [`with a chance of ${probability * 100} %`]),
  ]
  const narrowed = which.length === 0 ? '' : `, ${which.join(', ')},`
  return `each ${describeSelector(when)}${narrowed} ${fault.description}`
}

/** Counts the requests that a rule is about, and says which it strikes. */
export class FaultRuleCounter {
  readonly rule: FaultRule
  readonly #random: () => number
  #seen = 0

  constructor(rule: FaultRule, random: () => number) {
    this.rule = rule
    this.#random = random
  }

  applies(call: MethodCall): boolean {
    const { nth, every, probability } = this.rule.when
    if (!matchesSelector(this.rule.when, call)) return false
    this.#seen++
    if (nth !== undefined && this.#seen !== nth) return false
    if (every !== undefined && this.#seen % every !== 0) return false
    return probability === undefined || this.#random() < probability
  }
}

/** Refuses faults that this link cannot carry out. */
export function requireSupportedFaults(rules: readonly FaultRule[], link: LinkFaultActions): void {
  for (const rule of rules) {
    const { needs } = rule.fault
    if (needs !== undefined && link[needs] === undefined)
      throw invalidSetting(
        'faults',
        `this link cannot carry out: ${describeFaultRule(rule)}`,
        REQUIREMENT_HINTS[needs],
      )
  }
}

const REQUIREMENT_HINTS: Readonly<Record<keyof LinkFaultActions, string>> = {
  drop: 'serve the tape over HTTP',
  disconnect: 'serve the tape over a connection that can be ended',
  http: 'serve the tape over HTTP',
}

const SELECTOR_KEYS = ['method', 'tool', 'params', 'nth', 'every', 'probability']

function parseFaultRule(setting: RuleEntry): FaultRule {
  const kinds = FAULT_KINDS.filter(({ name }) => Object.hasOwn(setting.entry, name))
  requireKnownKeys(setting, [...SELECTOR_KEYS, ...FAULT_KINDS.map(({ name }) => name)])
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1)
    throw invalidSetting(setting.at, 'a fault is of one kind', FAULT_KINDS.map(({ name }) => name).join(', '))
  const fault = kind.parse(setting.entry[kind.name])
  if (fault === undefined)
    throw invalidSetting(setting.at, `"${kind.name}" makes no sense`, `it takes ${kind.expects}`)
  return { when: { ...parseSelector(setting), ...parseOccurrence(setting) }, fault }
}

function parseOccurrence({ entry, at }: RuleEntry): Pick<FaultRule['when'], 'nth' | 'every' | 'probability'> {
  const { nth, every, probability } = entry
  if (nth !== undefined && !isCount(nth)) throw invalidSetting(at, '"nth" is not a whole number from 1 on')
  if (every !== undefined && !isCount(every))
    throw invalidSetting(at, '"every" is not a whole number from 1 on')
  if (probability !== undefined && !isProbability(probability))
    throw invalidSetting(at, '"probability" is not a number from 0 to 1')
  return {
    ...(nth !== undefined && { nth }),
    ...(every !== undefined && { every }),
    ...(probability !== undefined && { probability }),
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function isProbability(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}
