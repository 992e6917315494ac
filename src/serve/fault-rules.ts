import { FAULT_KINDS } from './faults/index.ts'
import type { Fault, LinkFaults } from './faults/fault.ts'
import { isSelected, selectorInWords, type Call, type RequestSelector } from './request-selector.ts'
import {
  entriesOf,
  inProgram,
  invalid,
  requireKnown,
  selectorOf,
  type Entry,
  type Place,
} from './settings.ts'

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
export function readFaults(value: unknown, place: Place = inProgram): readonly FaultRule[] {
  return entriesOf(value, 'faults', place).map(readRule)
}

/** The rule in words: `each call of search, number 2 only, is never answered`. */
export function faultInWords({ when, fault }: FaultRule): string {
  const { nth, every, probability } = when
  const which = [
    ...(nth === undefined ? [] : [`number ${nth} only`]),
    ...(every === undefined ? [] : [`one in ${every}`]),
    ...(probability === undefined ? [] : [`with a chance of ${probability * 100} %`]),
  ]
  const narrowed = which.length === 0 ? '' : `, ${which.join(', ')},`
  return `each ${selectorInWords(when)}${narrowed} ${fault.words}`
}

/** Counts the requests that a rule is about, and says which it strikes. */
export class FaultCounter {
  readonly rule: FaultRule
  readonly #random: () => number
  #seen = 0

  constructor(rule: FaultRule, random: () => number) {
    this.rule = rule
    this.#random = random
  }

  strikes(call: Call): boolean {
    const { nth, every, probability } = this.rule.when
    if (!isSelected(this.rule.when, call)) return false
    this.#seen++
    if (nth !== undefined && this.#seen !== nth) return false
    if (every !== undefined && this.#seen % every !== 0) return false
    return probability === undefined || this.#random() < probability
  }
}

/** Refuses faults that this link cannot carry out. */
export function requireCarriedOut(rules: readonly FaultRule[], link: LinkFaults): void {
  for (const rule of rules) {
    const { needs } = rule.fault
    if (needs !== undefined && link[needs] === undefined)
      throw invalid('faults', `this link cannot carry out: ${faultInWords(rule)}`, NEEDS[needs])
  }
}

const NEEDS: Readonly<Record<keyof LinkFaults, string>> = {
  drop: 'serve the tape over HTTP',
  disconnect: 'serve the tape over a connection that can be ended',
  http: 'serve the tape over HTTP',
}

const WHEN = ['method', 'tool', 'params', 'nth', 'every', 'probability']

function readRule(setting: Entry): FaultRule {
  const kinds = FAULT_KINDS.filter(({ name }) => Object.hasOwn(setting.entry, name))
  requireKnown(setting, [...WHEN, ...FAULT_KINDS.map(({ name }) => name)])
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1)
    throw invalid(setting.at, 'a fault is of one kind', FAULT_KINDS.map(({ name }) => name).join(', '))
  const fault = kind.read(setting.entry[kind.name])
  if (fault === undefined)
    throw invalid(setting.at, `"${kind.name}" makes no sense`, `it takes ${kind.takes}`)
  return { when: { ...selectorOf(setting), ...whichOf(setting) }, fault }
}

function whichOf({ entry, at }: Entry): Pick<FaultRule['when'], 'nth' | 'every' | 'probability'> {
  const { nth, every, probability } = entry
  if (nth !== undefined && !isCount(nth)) throw invalid(at, '"nth" is not a whole number from 1 on')
  if (every !== undefined && !isCount(every)) throw invalid(at, '"every" is not a whole number from 1 on')
  if (probability !== undefined && !isChance(probability))
    throw invalid(at, '"probability" is not a number from 0 to 1')
  return {
    ...(nth !== undefined && { nth }),
    ...(every !== undefined && { every }),
    ...(probability !== undefined && { probability }),
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function isChance(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}
