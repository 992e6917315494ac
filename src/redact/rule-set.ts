import { RULES_NAME } from './prefilter/default-image.ts'
import { defaultRules, EMAIL_RULE } from './rules/index.ts'
import type { RedactionRule } from './rules/rule.ts'

/** What is looked for, and what is left alone. */
export interface RedactionRuleSet {
  /** As tapes tell it. */
  readonly name: string
  readonly rules: readonly RedactionRule[]
  /** Those of them that do not come with Reelay, or only when asked for. */
  readonly added: readonly RedactionRule[]
  /** Names of members whose values are secrets, beside those that everybody knows. */
  readonly fields: readonly string[]
  /** Values that are no secrets, whatever they look like. */
  readonly allow: readonly RegExp[]
}

/** What a project adds to the rules that come with Reelay, and takes from them. */
export interface RedactionRuleChanges {
  readonly rules?: readonly RedactionRule[]
  /** Names of rules that are not used. */
  readonly off?: readonly string[]
  readonly fields?: readonly string[]
  readonly allow?: readonly RegExp[]
  readonly email?: boolean
}

/** Both together. */
export function mergeRuleChanges(
  one: RedactionRuleChanges,
  other: RedactionRuleChanges,
): RedactionRuleChanges {
  return {
    rules: [...(one.rules ?? []), ...(other.rules ?? [])],
    off: [...(one.off ?? []), ...(other.off ?? [])],
    fields: [...(one.fields ?? []), ...(other.fields ?? [])],
    allow: [...(one.allow ?? []), ...(other.allow ?? [])],
    email: one.email === true || other.email === true,
  }
}

export function redactionRuleSet({
  rules = [],
  off = [],
  fields = [],
  allow = [],
  email = false,
}: RedactionRuleChanges = {}): RedactionRuleSet {
  const isOn = ({ name }: RedactionRule): boolean => !off.includes(name)
  const asked = email ? [EMAIL_RULE] : []
  let all: readonly RedactionRule[] | undefined
  const changes = rules.length + off.length + fields.length + allow.length
  return {
    name: [RULES_NAME, ...(email ? ['email'] : []), ...(changes > 0 ? ['project'] : [])].join('+'),
    get rules() {
      return (all ??= [...rules, ...defaultRules(), ...asked].filter(isOn))
    },
    added: [...rules, ...asked].filter(isOn),
    fields,
    allow,
  }
}

/** The ways in which a name is spelled: `apiKey`, `api_key`, `api-key`. */
export function nameSpellings(name: string): readonly string[] {
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/)
  return [...new Set([name, ...['', '_', '-'].map((joint) => words.join(joint))])]
}

/** A name as names are compared: `API-Key`, `api_key` and `apiKey` are one. */
export function normalizeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()
}

/** A pattern as people write it: `/…/i`, or its source alone. */
export function parsePattern(text: string): RegExp {
  const [, source = text, flags = ''] = PATTERN_SYNTAX.exec(text) ?? []
  return new RegExp(source, flags)
}

/** A value as people write it: between slashes it is a pattern, and otherwise itself. */
export function parseValuePattern(text: string): RegExp {
  return PATTERN_SYNTAX.test(text) ? parsePattern(text) : exactPattern(text)
}

export function exactPattern(value: string): RegExp {
  return new RegExp(`^${value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}$`)
}

const PATTERN_SYNTAX = /^\/(.*)\/([imsu]*)$/s
