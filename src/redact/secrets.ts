import { base64Forms } from './base64.ts'
import { DEFAULT_IMAGE } from './default-image.ts'
import { bytesIn, type PatternKind } from './gate-entry.ts'
import { GateTables } from './gate-tables.ts'
import { Gate } from './gate.ts'
import type { RedactionKey } from './key.ts'
import { formsOf, KnownValues } from './known-values.ts'
import type { Rule } from './rule.ts'
import { spellingsOf, type RuleSet } from './rule-set.ts'
import { EXACT, NAME, PATTERN_KINDS, ruleKind } from './pattern-kinds.ts'
import { StandIns } from './stand-ins.ts'
import { isDistinct } from './value-tests.ts'

/**
 * What the texts are: `fresh` from a link; from a `live` client that may also send stand-ins it was given; or redacted with
 * this key before, and now looked at `again`.
 */
export type Source = 'fresh' | 'live' | 'again'

/** Which values are secret, as far as it is known by now, and what stands for each. */
export class Secrets {
  readonly rules: RuleSet
  readonly known: KnownValues = new KnownValues()
  readonly #gate = new Gate(new GateTables(DEFAULT_IMAGE, PATTERN_KINDS))
  readonly #standIns: StandIns
  readonly #source: Source

  constructor(key: RedactionKey, rules: RuleSet, source: Source) {
    this.rules = rules
    this.#standIns = new StandIns(key)
    this.#source = source
    for (const rule of rules.own) this.#watchFor(rule)
    for (const field of rules.fields) for (const text of spellingsOf(field)) this.#watchForText(text, NAME)
  }

  /** How many values have been replaced. */
  get count(): number {
    return this.#standIns.count
  }

  get replaced(): readonly string[] {
    return this.#standIns.values
  }

  /** Whether bytes can hold a secret, in any of its spellings; if not, they hold none. */
  mayHoldBytes(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    return this.#gate.stops(bytes, start, end)
  }

  mayHold(text: string): boolean {
    if (text.length * UTF8_PER_UNIT > scratch.length) return this.#gate.stops(encoder.encode(text))
    const { written } = encoder.encodeInto(text, scratch)
    return this.#gate.stops(scratch, 0, written)
  }

  standIn(value: string): string {
    return this.#standIns.of(value)
  }

  isKnown(value: string): boolean {
    return this.known.has(value)
  }

  /** Whether a value stays as it is: the project allows it, or it is a stand-in already. */
  isLeft(value: string): boolean {
    if (this.rules.allow.some((allowed) => allowed.test(value))) return true
    return this.#source !== 'fresh' && this.#standIns.isOne(value, this.#source === 'again')
  }

  /** From now on this value is replaced wherever it stands, if it can be told from ordinary words. */
  learn(value: string): void {
    if (isDistinct(value)) this.mustNotStay(value)
  }

  /** The same for a value that is a secret for sure. */
  mustNotStay(value: string): void {
    if (this.known.size >= MOST_KNOWN || this.isLeft(value) || !this.known.add(value)) return
    for (const text of formsOf(value)) this.#gate.add(bytesIn(text), EXACT)
  }

  /** Of a rule of the project: those that come with Reelay are in the image. */
  #watchFor(rule: Rule): void {
    if (rule.keywords.length === 0) return this.#gate.open()
    for (const text of rule.keywords) this.#watchForText(text, ruleKind(rule))
  }

  #watchForText(text: string, kind: PatternKind): void {
    const bytes = bytesIn(text)
    this.#gate.add(bytes, kind)
    if (text.length > 2) for (const form of base64Forms(bytes)) this.#gate.add(form, EXACT)
  }
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(64 * 1024)
const UTF8_PER_UNIT = 3
const MOST_KNOWN = 5000
