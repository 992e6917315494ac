import { ReelayError } from '../errors.ts'
import type { RuleAdditions } from '../config/save-redaction.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { DEFAULT_RULES } from '../redact/rules.ts'

export interface RuleFlags {
  readonly rule?: readonly string[]
  readonly field?: readonly string[]
  readonly off?: readonly string[]
  readonly allow?: readonly string[]
}

/** The rules of the command line, as a config would hold them. */
export function additionsIn({ rule = [], field = [], off = [], allow = [] }: RuleFlags): RuleAdditions {
  const unknown = off.find((name) => !DEFAULT_RULES.some((known) => known.name === name))
  if (unknown !== undefined)
    throw usage(
      `there is no rule "${unknown}"`,
      `choose of ${DEFAULT_RULES.map(({ name }) => name).join(', ')}`,
    )
  return { rules: rule.map(readRule), fields: field, off, allow }
}

/** The same, ready to be used. */
export function changesBy({ rules, fields, off, allow }: RuleAdditions): RuleChanges {
  return {
    rules: rules.map(({ name, pattern }) => ({
      name,
      pattern: patternOf(pattern),
      keywords: [],
      isLearned: true,
    })),
    fields,
    off,
    allow: allow.map((text) => (isPattern(text) ? patternOf(text) : exactly(text))),
  }
}

function readRule(text: string): { readonly name: string; readonly pattern: string } {
  const [, name, pattern] = /^([\w-]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || pattern === undefined)
    throw usage(
      `cannot read --rule ${JSON.stringify(text)}`,
      "write it as 'name=pattern', as in 'order=ORD-\\d{6}'",
    )
  patternOf(pattern)
  return { name, pattern }
}

function isPattern(text: string): boolean {
  return /^\/.*\/[imsu]*$/s.test(text)
}

function patternOf(text: string): RegExp {
  const [, source = text, flags = ''] = /^\/(.*)\/([imsu]*)$/s.exec(text) ?? []
  try {
    const pattern = new RegExp(source, flags)
    if (!pattern.test('')) return pattern
  } catch (error) {
    throw usage(
      `${JSON.stringify(text)} is no pattern`,
      error instanceof Error ? error.message : String(error),
    )
  }
  throw usage(
    `the pattern ${JSON.stringify(text)} matches nothing at all, and so everything`,
    'make it say more',
  )
}

function exactly(value: string): RegExp {
  return new RegExp(`^${value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}$`)
}

function usage(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
