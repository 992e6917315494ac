import { InvalidArgumentError, type Command } from 'commander'
import type { RuleChanges } from '../redact/rule-set.ts'
import { defaultRules } from '../redact/rules.ts'
import { writtenPattern, writtenValue } from '../redact/written-pattern.ts'

/** What a command line adds to the rules of redaction, and takes from them. */
export interface RuleFlags {
  readonly rule?: readonly RegExp[]
  readonly field?: readonly string[]
  readonly allow?: readonly RegExp[]
  readonly off?: readonly string[]
  readonly email?: true
}

export function addRuleFlags(command: Command): Command {
  return command
    .option('--rule <pattern>', 'look for this too, such as /acme-\\d{6}/; may be repeated', each(patternOf))
    .option('--field <name>', 'values of this name are secrets; may be repeated', each(String))
    .option('--allow <value>', 'this value, or /pattern/, is no secret; may be repeated', each(allowedBy))
    .option('--off <rule>', 'do not use this rule; may be repeated', each(knownRule))
    .option('--email', 'give e-mail addresses stand-ins too')
}

export function ruleChanges({ rule = [], field = [], allow = [], off = [], email }: RuleFlags): RuleChanges {
  return {
    rules: rule.map((pattern) => ({ name: '--rule', keywords: [], pattern, isLearned: true })),
    fields: field,
    allow,
    off,
    ...(email && { email }),
  }
}

/** Gathers what an option is given each time. */
function each<Value>(read: (text: string) => Value): (text: string, before?: readonly Value[]) => Value[] {
  return (text, before = []) => [...before, read(text)]
}

function patternOf(text: string): RegExp {
  const pattern = readable(() => writtenPattern(text))
  if (pattern.test(''))
    throw new InvalidArgumentError('It matches nothing at all, so it would match everywhere.')
  return pattern
}

function allowedBy(text: string): RegExp {
  return readable(() => writtenValue(text))
}

function readable(read: () => RegExp): RegExp {
  try {
    return read()
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function knownRule(name: string): string {
  const names = [...new Set(defaultRules().map((rule) => rule.name))]
  if (names.includes(name)) return name
  throw new InvalidArgumentError(`The rules are ${names.join(', ')}.`)
}
