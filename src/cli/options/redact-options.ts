import { InvalidArgumentError, type Command } from 'commander'
import { type RedactionRuleChanges, parsePattern, parseValuePattern } from '../../redact/rule-set.ts'
import { defaultRules } from '../../redact/rules/index.ts'

/** What a command line adds to the rules of redaction, and takes from them. */
export interface RedactionFlags {
  readonly rule?: readonly RegExp[]
  readonly field?: readonly string[]
  readonly allow?: readonly RegExp[]
  readonly off?: readonly string[]
  readonly email?: true
}

export function declareRedactionOptions(command: Command): Command {
  return command
    .option(
      '--rule <pattern>',
      'look for this too, such as /acme-\\d{6}/; may be repeated',
      collectEach(readPattern),
    )
    .option('--field <name>', 'values of this name are secrets; may be repeated', collectEach(String))
    .option(
      '--allow <value>',
      'this value, or /pattern/, is no secret; may be repeated',
      collectEach(readAllowed),
    )
    .option('--off <rule>', 'do not use this rule; may be repeated', collectEach(readRuleName))
    .option('--email', 'give e-mail addresses stand-ins too')
}

export function readRedactionFlags({
  rule = [],
  field = [],
  allow = [],
  off = [],
  email,
}: RedactionFlags): RedactionRuleChanges {
  return {
    rules: rule.map((pattern) => ({ name: '--rule', keywords: [], pattern, isLearned: true })),
    fields: field,
    allow,
    off,
    ...(email && { email }),
  }
}

/** Gathers what an option is given each time. */
function collectEach<Value>(
  read: (text: string) => Value,
): (text: string, before?: readonly Value[]) => Value[] {
  return (text, before = []) => [...before, read(text)]
}

function readPattern(text: string): RegExp {
  const pattern = orInvalidArgument(() => parsePattern(text))
  if (pattern.test(''))
    throw new InvalidArgumentError('It matches nothing at all, so it would match everywhere.')
  return pattern
}

function readAllowed(text: string): RegExp {
  return orInvalidArgument(() => parseValuePattern(text))
}

function orInvalidArgument(read: () => RegExp): RegExp {
  try {
    return read()
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function readRuleName(name: string): string {
  const names = [...new Set(defaultRules().map((rule) => rule.name))]
  if (names.includes(name)) return name
  throw new InvalidArgumentError(`The rules are ${names.join(', ')}.`)
}
