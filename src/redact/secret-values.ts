import { KnownValues } from './known-values.ts'
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
 * Where the texts come from: `fresh` from a link; from a `live` client, which may send back placeholders that it was given; or
 * from a tape that was redacted with this key and is now redacted `again`.
 */
export type RedactionSource = 'fresh' | 'live' | 'again'

/** The values that are known to be secret, and their placeholders. */
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

  placeholderFor(value: string): string {
    return this.#placeholders.forValue(value)
  }

  isKnown(value: string): boolean {
    return this.known.has(value)
  }

  /** Returns true for values that the project allows, and for placeholders. */
  isExempt(value: string): boolean {
    if (this.rules.allow.some((allowed) => allowed.test(value))) return true
    return this.#source !== 'fresh' && this.#placeholders.isPlaceholder(value, this.#source === 'again')
  }

  /** Replaces this value everywhere from now on, unless it could be an ordinary word. */
  learn(value: string): void {
    if (isDistinctive(value)) this.addKnown(value)
  }

  /** Replaces this value everywhere from now on. */
  addKnown(value: string): void {
    if (this.known.has(value) || this.known.size >= MAX_KNOWN_VALUES || this.isExempt(value)) return
    for (const text of encodedForms(value.slice(0, MAX_ENCODED_LENGTH)))
      this.#prefilter.add(toByteString(text), EXACT)
    this.known.add(value) // last, because a search can be interrupted, and a value must not be known but not found
  }

  /** Adds a rule that is not on by default. The default rules are in the generated image. */
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
