import { KnownValues, ownCopy } from './known-values.ts'
import { type RedactionKey, Placeholders } from './placeholders.ts'
import { DEFAULT_IMAGE } from './prefilter/default-image.ts'
import { EXACT, NAME, PATTERN_KINDS, patternKindOf } from './prefilter/pattern-kinds.ts'
import { SecretPrefilter } from './prefilter/prefilter.ts'
import { toByteString, type PatternKind, PrefilterTables } from './prefilter/prefilter.ts'
import { nameSpellings, type RedactionRuleSet } from './rule-set.ts'
import { defaultRules } from './rules/index.ts'
import type { RedactionRule } from './rules/rule.ts'
import { isDistinctive } from './value-checks.ts'
import { base64Forms } from './views.ts'

/**
 * Where the texts come from: `fresh` from a link; from a `live` client, which may send back placeholders that it was given; or
 * from a tape that was redacted with this key and is now redacted `again`.
 */
export type RedactionSource = 'fresh' | 'live' | 'again'

interface SecretValuesOptions {
  readonly rules: RedactionRuleSet
  readonly source: RedactionSource
  /** True if all values are kept as they are. Otherwise most are kept as fingerprints, which takes little memory. */
  readonly keepsValues: boolean
}

/** The values that are known to be secret, and their placeholders. */
export class SecretValues {
  readonly rules: RedactionRuleSet
  readonly known: KnownValues
  readonly #prefilter = new SecretPrefilter(new PrefilterTables(DEFAULT_IMAGE, PATTERN_KINDS))
  readonly #placeholders: Placeholders
  readonly #source: RedactionSource
  #ruleTable: RuleTable | undefined

  constructor(key: RedactionKey, { rules, source, keepsValues }: SecretValuesOptions) {
    this.rules = rules
    this.known = new KnownValues(keepsValues ? {} : { maxKept: MAX_KEPT_VALUES, seed: () => seedFrom(key) })
    this.#placeholders = new Placeholders(key, keepsValues ? {} : { maxKept: MAX_KEPT_VALUES })
    this.#source = source
    for (const [index, rule] of rules.added.entries()) this.#addRule(rule, FIRST_ADDED_RULE + index)
    for (const field of rules.fields) for (const text of nameSpellings(field)) this.#addKeyword(text, NAME)
  }

  /** Number of replaced values. */
  get count(): number {
    return this.#placeholders.count
  }

  get replaced(): readonly string[] {
    return this.#placeholders.values
  }

  /** If this returns false, the bytes contain no secret, in any encoding. */
  mayOccurInBytes(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    return this.#prefilter.mayMatch(bytes, start, end)
  }

  mayOccurIn(text: string): boolean {
    if (text.length * UTF8_PER_UNIT > scratch.length) return this.#prefilter.mayMatch(encoder.encode(text))
    const { written } = encoder.encodeInto(text, scratch)
    return this.#prefilter.mayMatch(scratch, 0, written)
  }

  /** The rules that may match a text: those that have a keyword in it, and those without usable keywords. */
  rulesFor(text: string): readonly RedactionRule[] {
    const long = text.length * UTF8_PER_UNIT > scratch.length ? encoder.encode(text) : undefined
    const end = long?.length ?? encoder.encodeInto(text, scratch).written
    const { numbered, always } = (this.#ruleTable ??= new RuleTable(this.rules))
    const found = this.#prefilter.rulesIn(long ?? scratch, 0, end)
    if (found.size === 0) return always
    return [...always, ...[...found].flatMap((number) => numbered.get(number) ?? [])]
  }

  placeholderFor(value: string): string {
    return this.#placeholders.forValue(value)
  }

  isKnown(value: string): boolean {
    return this.known.has(value)
  }

  /** Returns true for values that the project allows, and for placeholders. */
  isExempt(value: string): boolean {
    if (this.rules.allow.some((allowed) => allowed.test(value))) return true
    return this.isPlaceholder(value)
  }

  get canHavePlaceholders(): boolean {
    return this.#source !== 'fresh'
  }

  /** Returns true for a placeholder of this key, if the texts can contain any. */
  isPlaceholder(value: string): boolean {
    return this.canHavePlaceholders && this.#placeholders.isPlaceholder(value, this.#source === 'again')
  }

  /** Replaces this value everywhere from now on, unless it could be an ordinary word. */
  learn(value: string): void {
    if (isDistinctive(value)) this.addKnown(value)
  }

  /** Replaces this value everywhere from now on. */
  addKnown(value: string): void {
    if (this.known.has(value) || this.isExempt(value)) return
    const own = ownCopy(value)
    for (const text of encodedForms(own.slice(0, MAX_ENCODED_LENGTH))) {
      const bytes = toByteString(text)
      if (this.known.keeps(own) && this.known.size < MAX_PREFILTER_VALUES) this.#prefilter.add(bytes, EXACT)
      else this.#prefilter.addToMany(bytes)
    }
    this.known.add(own) // last, because a search can be interrupted, and a value must not be known but not found
  }

  /** Adds a rule that is not on by default. The default rules are in the generated image. */
  #addRule(rule: RedactionRule, number: number): void {
    if (rule.keywords.length === 0) return this.#prefilter.acceptAll()
    for (const text of rule.keywords) this.#addKeyword(text, patternKindOf(rule), number)
  }

  #addKeyword(text: string, kind: PatternKind, rule = 0): void {
    const bytes = toByteString(text)
    this.#prefilter.add(bytes, kind, rule)
    if (text.length > 2) for (const form of base64Forms(bytes)) this.#prefilter.add(form, EXACT)
  }
}

/** The rules that are on, by the numbers that they have in the prefilter. */
class RuleTable {
  readonly numbered: ReadonlyMap<number, RedactionRule>
  /** Rules without a keyword that the prefilter can find. */
  readonly always: readonly RedactionRule[]

  constructor({ rules, added }: RedactionRuleSet) {
    const isOn = new Set(rules)
    const all = [
      ...defaultRules().map((rule, index) => [index + 1, rule] as const),
      ...added.map((rule, index) => [FIRST_ADDED_RULE + index, rule] as const),
    ]
    this.numbered = new Map(all.filter(([, rule]) => isOn.has(rule)))
    this.always = rules.filter(
      ({ keywords }) => keywords.length === 0 || keywords.some((text) => text.length < 3),
    )
  }
}

/** The default rules have the numbers before. */
const FIRST_ADDED_RULE = 10_000

const encoder = new TextEncoder()
const scratch = new Uint8Array(64 * 1024)
const UTF8_PER_UNIT = 3
const MAX_KEPT_VALUES = 1000
/** The prefilter has room for the encodings of so many values. */
const MAX_PREFILTER_VALUES = 5000

/** A number that nobody knows who does not have the key. */
function seedFrom({ hmac }: RedactionKey): number {
  return new DataView(hmac('fingerprints').slice().buffer).getInt32(0)
}

/** The encodings of a value in JSON, URLs and base64. */
export function encodedForms(value: string): readonly string[] {
  const escaped = escapeForJson(value)
  const percent = encodeURIComponent(/[\ud800-\udfff]/.test(value) ? value.replaceAll(/\p{Cs}/gu, '') : value)
  const bytes = String.fromCharCode(...new TextEncoder().encode(value.slice(0, MAX_ENCODED_LENGTH)))
  return [
    ...new Set([
      value,
      escaped,
      escapeForJson(escaped),
      asciiOnly(escaped),
      percent,
      percent.replaceAll(/%../g, (code) => code.toLowerCase()),
      ...base64Forms(bytes),
    ]),
  ]
}

/** The beginning of a long value identifies it. */
const MAX_ENCODED_LENGTH = 48

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Escapes as Python and Go write them. */
function asciiOnly(escaped: string): string {
  return escaped.replaceAll(
    /[^\x20-\x7e]|[<>&]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
