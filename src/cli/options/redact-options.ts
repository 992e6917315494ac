import { type RedactionRuleChanges, parsePattern, parseValuePattern } from '../../redact/rule-set.ts'
import { defaultRules } from '../../redact/rules/index.ts'
import { inGroup, usageError, type OptionTable, type ValueType } from './option.ts'
import { listOf, switchOn, textValue } from './option-types.ts'

/** Changes to the redaction rules, for one run. */
export interface RedactionFlags {
  readonly rule?: readonly RegExp[]
  readonly field?: readonly string[]
  readonly allow?: readonly RegExp[]
  readonly off?: readonly string[]
  readonly email?: true
}

const pattern: ValueType<RegExp> = {
  kind: 'value',
  name: 'pattern',
  placeholder: 'pattern',
  expected: 'a regular expression that does not match the empty text, e.g. /acme-\\d{6}/',
  parse: (given) => {
    const read = validPattern(() => parsePattern(given))
    return read?.test('') ? undefined : read
  },
}

const patterns: ValueType<readonly RegExp[]> = {
  ...listOf(pattern),
  schema: { type: 'array', items: { $ref: '#/$defs/redactionRule' } },
}

const value: ValueType<RegExp> = {
  kind: 'value',
  name: 'value',
  placeholder: 'value',
  expected: 'a text, or a regular expression between slashes',
  schema: { $ref: '#/$defs/text' },
  parse: (given) => validPattern(() => parseValuePattern(given)),
}

const ruleName: ValueType<string> = {
  ...textValue,
  placeholder: 'rule',
  parse: (name) => {
    const known = [...new Set(defaultRules().map((rule) => rule.name))]
    if (known.includes(name)) return name
    throw usageError(`unknown rule ${JSON.stringify(name)} for --off`, `the rules are ${known.join(', ')}`)
  },
}

function validPattern(read: () => RegExp): RegExp | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

export const REDACTION_OPTIONS: OptionTable<RedactionFlags> = {
  ...inGroup('Rules', {
    rule: {
      flag: '--rule',
      type: patterns,
      config: 'redaction.rules',
      help: 'Replace whatever this regular expression matches, e.g. /acme-\\d{6}/ (repeatable)',
    },
    field: {
      flag: '--field',
      type: listOf(textValue),
      placeholder: 'name',
      config: 'redaction.fields',
      help: 'Treat the values of members with this name as secrets (repeatable)',
    },
    allow: {
      flag: '--allow',
      type: listOf(value),
      config: 'redaction.allow',
      help: 'Do not treat this value, or /pattern/, as a secret (repeatable)',
    },
    off: {
      flag: '--off',
      type: listOf(ruleName),
      config: 'redaction.off',
      help: 'Turn off a built-in rule (repeatable)',
    },
    email: {
      flag: '--email',
      type: switchOn,
      config: 'redaction.email',
      help: 'Replace e-mail addresses with placeholders too',
    },
  }),
}

export function readRuleChanges({
  rule = [],
  field = [],
  allow = [],
  off = [],
  email,
}: RedactionFlags): RedactionRuleChanges {
  return {
    rules: rule.map((each) => ({ name: '--rule', keywords: [], pattern: each, isLearned: true })),
    fields: field,
    allow,
    off,
    ...(email && { email }),
  }
}
