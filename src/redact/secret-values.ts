import { type RedactionKey, Placeholders } from './placeholders.ts'
import { DEFAULT_IMAGE } from './prefilter/default-image.ts'
import { EXACT, NAME, PATTERN_KINDS, patternKindOf } from './prefilter/pattern-kinds.ts'
import { SecretPrefilter } from './prefilter/prefilter.ts'
import { toByteString, type PatternKind, PrefilterTables } from './prefilter/prefilter.ts'
import { nameSpellings, type RedactionRuleSet } from './rule-set.ts'
import type { RedactionRule } from './rules/rule.ts'
import { isDistinctive } from './value-checks.ts'
import { base64Forms } from './views.ts'

/**
 * What the texts are: `fresh` from a link; from a `live` client that may also send stand-ins it was given; or redacted with
 * this key before, and now looked at `again`.
 */
export type RedactionSource = 'fresh' | 'live' | 'again'

/** Which values are secret, as far as it is known by now, and what stands for each. */
export class SecretValues {
  readonly rules: RedactionRuleSet
  readonly known: KnownValues = new KnownValues()
  readonly #prefilter = new SecretPrefilter(new PrefilterTables(DEFAULT_IMAGE, PATTERN_KINDS))
  readonly #placeholders: Placeholders
  readonly #source: RedactionSource

  constructor(key: RedactionKey, rules: RedactionRuleSet, source: RedactionSource) {
    this.rules = rules
    this.#placeholders = new Placeholders(key)
    this.#source = source
    for (const rule of rules.added) this.#addRule(rule)
    for (const field of rules.fields) for (const text of nameSpellings(field)) this.#addKeyword(text, NAME)
  }

  /** How many values have been replaced. */
  get count(): number {
    return this.#placeholders.count
  }

  get replaced(): readonly string[] {
    return this.#placeholders.values
  }

  /** Whether bytes can hold a secret, in any of its spellings; if not, they hold none. */
  mayOccurInBytes(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    return this.#prefilter.mayMatch(bytes, start, end)
  }

  mayOccurIn(text: string): boolean {
    if (text.length * UTF8_PER_UNIT > scratch.length) return this.#prefilter.mayMatch(encoder.encode(text))
    const { written } = encoder.encodeInto(text, scratch)
    return this.#prefilter.mayMatch(scratch, 0, written)
  }

  placeholderFor(value: string): string {
    return this.#placeholders.forValue(value)
  }

  isKnown(value: string): boolean {
    return this.known.has(value)
  }

  /** Whether a value stays as it is: the project allows it, or it is a stand-in already. */
  isExempt(value: string): boolean {
    if (this.rules.allow.some((allowed) => allowed.test(value))) return true
    return this.#source !== 'fresh' && this.#placeholders.isPlaceholder(value, this.#source === 'again')
  }

  /** From now on this value is replaced wherever it stands, if it can be told from ordinary words. */
  learn(value: string): void {
    if (isDistinctive(value)) this.addKnown(value)
  }

  /** The same for a value that is a secret for sure. */
  addKnown(value: string): void {
    if (this.known.size >= MAX_KNOWN_VALUES || this.isExempt(value) || !this.known.add(value)) return
    for (const text of encodedForms(value)) this.#prefilter.add(toByteString(text), EXACT)
  }

  /** Of a rule of the project: those that come with Reelay are in the image. */
  #addRule(rule: RedactionRule): void {
    if (rule.keywords.length === 0) return this.#prefilter.acceptAll()
    for (const text of rule.keywords) this.#addKeyword(text, patternKindOf(rule))
  }

  #addKeyword(text: string, kind: PatternKind): void {
    const bytes = toByteString(text)
    this.#prefilter.add(bytes, kind)
    if (text.length > 2) for (const form of base64Forms(bytes)) this.#prefilter.add(form, EXACT)
  }
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(64 * 1024)
const UTF8_PER_UNIT = 3
const MAX_KNOWN_VALUES = 5000

/** Values that are secret wherever they stand. */
class KnownValues {
  readonly #values = new Set<string>()
  #pattern: RegExp | undefined

  get size(): number {
    return this.#values.size
  }

  get all(): readonly string[] {
    return [...this.#values]
  }

  has(value: string): boolean {
    return this.#values.has(value)
  }

  /** Whether the value is new. */
  add(value: string): boolean {
    if (this.#values.has(value)) return false
    this.#values.add(value)
    this.#pattern = undefined
    return true
  }

  /** Where known values stand in a text. */
  find(text: string): readonly { readonly start: number; readonly end: number }[] {
    if (this.#values.size === 0) return []
    this.#pattern ??= alternationOf([...this.#values])
    return [...text.matchAll(this.#pattern)].map(({ 0: { length }, index }) => ({
      start: index,
      end: index + length,
    }))
  }
}

/** How a value may be spelled where it stands in something else; each is as sure a sign of it as the value itself. */
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

/** Of a long value its beginning is sign enough. */
const MAX_ENCODED_LENGTH = 48

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** As Python and Go write it. */
function asciiOnly(escaped: string): string {
  return escaped.replaceAll(
    /[^\x20-\x7e]|[<>&]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The long ones first, so that of two values of which one holds the other the longer is found. */
function alternationOf(values: readonly string[]): RegExp {
  const sorted = values.toSorted((a, b) => b.length - a.length)
  return new RegExp(sorted.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}
