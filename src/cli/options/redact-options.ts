import { suggestName } from '../../text.ts'
import { timeGuard } from '../../config/redaction-config.ts'
import { allowsAlmostAnything } from '../../redact/allowed-values.ts'
import { type RedactionRuleChanges, parsePattern, parseValuePattern } from '../../redact/rule-set.ts'
import { defaultRules } from '../../redact/rules/index.ts'
import { option, inGroup, usageError, type OptionTable, type ValueType } from './option.ts'
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
  expected: 'a regular expression that does not match the empty text, or it would match everywhere',
  parse: (given) => {
    const read = withReason(given, '--rule', () => parsePattern(given))
    return read.test('') ? undefined : read
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
  parse: (given) => {
    const read = withReason(given, '--allow', () => parseValuePattern(given))
    if (!allowsAlmostAnything([read])) return read
    throw usageError(
      `invalid pattern ${JSON.stringify(given)} for --allow: it matches secrets of most kinds`,
      'allow the values themselves, or a pattern that matches only them',
    )
  },
  schema: { $ref: '#/$defs/text' },
}

const ruleName: ValueType<string> = {
  ...textValue,
  placeholder: 'rule',
  parse: (name) => {
    const known = [...new Set(defaultRules().map((rule) => rule.name))]
    if (known.includes(name)) return name
    throw usageError(
      `there is no rule ${JSON.stringify(name)} for --off${suggestName(name, known)}`,
      'docs/explanation/redaction.md lists the rules',
    )
  },
}

/** Adds the message of the engine, which says what is wrong with a regular expression. */
function withReason(given: string, flag: string, read: () => RegExp): RegExp {
  try {
    return read()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw usageError(
      `invalid pattern ${JSON.stringify(given)} for ${flag}: ${why}`,
      'write it like /acme-\\d{6}/',
    )
  }
}

export const REDACTION_OPTIONS: OptionTable<RedactionFlags> = {
  ...inGroup('Rules', {
    rule: option(
      '--rule',
      patterns,
      'Replace everything that this regular expression matches, e.g. /acme-\\d{6}/ (repeatable)',
      { config: 'redaction.rules' },
    ),
    field: option(
      '--field <name>',
      listOf(textValue),
      'Treat the values of fields with this name as secrets (repeatable)',
      { config: 'redaction.fields' },
    ),
    allow: option(
      '--allow',
      listOf(value),
      'Do not treat this value, or /pattern/, as a secret (repeatable)',
      {
        config: 'redaction.allow',
      },
    ),
    off: option('--off', listOf(ruleName), 'Turn off a built-in rule (repeatable)', {
      config: 'redaction.off',
    }),
    email: option('--email', switchOn, 'Also replace e-mail addresses with placeholders', {
      config: 'redaction.email',
    }),
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
    ...(rule.length + allow.length > 0 && { guard: timeGuard() }),
  }
}
