import { RULES_NAME } from './prefilter/default-image.ts'
import { defaultRules, EMAIL_RULE } from './rules/index.ts'
import { whyPatternIsSlow } from './slow-patterns.ts'
import type { RedactionRule } from './rules/rule.ts'

/** The rules of a recording. */
export interface RedactionRuleSet {
  /** The name on tapes. */
  readonly name: string
  readonly rules: readonly RedactionRule[]
  /** The rules that are not on by default. */
  readonly added: readonly RedactionRule[]
  /** Further names of members whose values are secret. */
  readonly fields: readonly string[]
  /** Values that are never replaced. */
  readonly allow: readonly RegExp[]
  /** Limits the time of patterns that are not ours. */
  readonly guard: PatternGuard | undefined
}

/** Runs a search, and throws a `REDACTION_LIMIT` error if it takes too long. Passed in because a browser has no such means. */
export type PatternGuard = <Result>(search: () => Result) => Result

/** The changes of a project to the default rules. */
export interface RedactionRuleChanges {
  readonly rules?: readonly RedactionRule[]
  /** Names of rules to turn off. */
  readonly off?: readonly string[]
  readonly fields?: readonly string[]
  readonly allow?: readonly RegExp[]
  readonly email?: boolean
  readonly guard?: PatternGuard
}

export function mergeRuleChanges(
  one: RedactionRuleChanges,
  other: RedactionRuleChanges,
): RedactionRuleChanges {
  const guard = one.guard ?? other.guard
  return {
    rules: [...(one.rules ?? []), ...(other.rules ?? [])],
    off: [...(one.off ?? []), ...(other.off ?? [])],
    fields: [...(one.fields ?? []), ...(other.fields ?? [])],
    allow: [...(one.allow ?? []), ...(other.allow ?? [])],
    email: one.email === true || other.email === true,
    ...(guard && { guard }),
  }
}

export function redactionRuleSet({
  rules = [],
  off = [],
  fields = [],
  allow = [],
  email = false,
  guard,
}: RedactionRuleChanges = {}): RedactionRuleSet {
  const isOn = ({ name }: RedactionRule): boolean => !off.includes(name)
  const emailRules = email ? [EMAIL_RULE] : []
  let all: readonly RedactionRule[] | undefined
  const changes = rules.length + off.length + fields.length + allow.length
  return {
    name: [RULES_NAME, ...(email ? ['email'] : []), ...(changes > 0 ? ['project'] : [])].join('+'),
    get rules() {
      return (all ??= [...rules, ...defaultRules(), ...emailRules].filter(isOn))
    },
    added: [...rules, ...emailRules].filter(isOn),
    fields,
    allow,
    guard,
  }
}

/** The usual spellings of a name: `apiKey`, `api_key`, `api-key`. */
export function nameSpellings(name: string): readonly string[] {
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/)
  return [...new Set([name, ...['', '_', '-'].map((joint) => words.join(joint))])]
}

/** Parses a pattern: `/…/i`, or its source alone. */
export function parsePattern(text: string): RegExp {
  const [, source = text, flags = ''] = PATTERN_SYNTAX.exec(text) ?? []
  return rejectSlowPattern(new RegExp(source, flags))
}

/** Throws if a pattern can take exponential time. */
export function rejectSlowPattern(pattern: RegExp): RegExp {
  const why = whyPatternIsSlow(pattern)
  if (why === undefined) return pattern
  throw new Error(`${String(pattern)} can take forever: ${why}`)
}

/** Parses a value: a pattern if it is between slashes, otherwise a text that is matched exactly. */
export function parseValuePattern(text: string): RegExp {
  return PATTERN_SYNTAX.test(text) ? parsePattern(text) : exactPattern(text)
}

export function exactPattern(value: string): RegExp {
  return new RegExp(`^${value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}$`)
}

const PATTERN_SYNTAX = /^\/(.*)\/([imsu]*)$/s
