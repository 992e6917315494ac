import type { ReelayError } from '../errors.ts'
import type { Fault, FaultActions } from './fault.ts'
import { FAULT_KINDS } from './kinds/registry.ts'
import { describeSelector, parseSelector, type RequestSelector } from './request-selector.ts'
import {
  invalidSetting,
  locateInProgram,
  readEntries,
  requireKnownKeys,
  requireObject,
  type EntryLocator,
  type RuleEntry,
} from './rule-file.ts'

/** A fault as written in a rule file or in code: which requests it applies to, and one kind of fault with its value. */
export interface FaultSetting extends RequestSelector, FaultOccurrence {
  /** `delay: '2s'`, `error: { code, message }`, … or `oneOf: [{ timeout: true }, …]`. */
  readonly [kind: string]: unknown
}

/** Which of the selected requests fail. By default all of them. */
interface FaultOccurrence {
  /** Only the nth request, counted from 1. */
  readonly nth?: number
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
    requireKnownKeys(entry, [...SELECTOR_KEYS, ...KIND_NAMES, ONE_OF])
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
  const { nth, every, probability } = when
  const limits = [
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

const SELECTOR_KEYS = ['method', 'tool', 'params', 'nth', 'every', 'probability']
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
    requireKnownKeys(chosen, KIND_NAMES)
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
  const { nth, every, probability } = entry
  if (nth !== undefined && !isCount(nth)) throw invalidSetting(at, '"nth" is not a whole number above 0')
  if (every !== undefined && !isCount(every))
    throw invalidSetting(at, '"every" is not a whole number above 0')
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
