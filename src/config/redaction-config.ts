import { Script } from 'node:vm'
import { findProjectConfig, type CodePolicy } from './project-config.ts'
import type { Setting } from './setting.ts'
import { ReelayError, systemErrorCode } from '../errors.ts'
import { allowsAlmostAnything } from '../redact/allowed-values.ts'
import {
  parsePattern,
  parseValuePattern,
  type PatternGuard,
  type RedactionRuleChanges,
  rejectSlowPattern,
} from '../redact/rule-set.ts'
import { defaultRules, EMAIL_RULE } from '../redact/rules/index.ts'
import type { RedactionRule } from '../redact/rules/rule.ts'
import { redactionLimit } from '../redact/work-limit.ts'

/** The redaction settings of the project, if any. */
export function readRedactionConfig(folder: string, code: CodePolicy): RedactionRuleChanges {
  try {
    const section = findProjectConfig(folder, code)?.section('redaction')
    return section === undefined ? {} : readRedactionSection(section)
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code === 'CONFIG_NOT_TRUSTED') throw error
    const hint = `${error.hint}; Reelay does not record with incomplete rules`
    throw new ReelayError('REDACTION_CONFIG', error.message, { hint, cause: error })
  }
}

/** Reads the `redaction` section: changes to the built-in rules. */
function readRedactionSection(section: Setting): RedactionRuleChanges {
  const { rules, off, fields, allow, email } = section.members(['rules', 'off', 'fields', 'allow', 'email'])
  return {
    ...(rules && { rules: rules.items().map(readRule) }),
    ...(off && { off: off.items().map(readRuleName) }),
    ...(fields && { fields: fields.texts() }),
    ...(allow && { allow: readAllowedValues(allow) }),
    ...(email && { email: email.flag() }),
    ...((rules ?? allow) && { guard: timeGuard() }),
  }
}

/**
 * Limits the time of a search, because the check of patterns does not find all that are slow. A timer of this thread could not
 * fire, but the one of `node:vm` also interrupts a regular expression.
 */
export function timeGuard(): PatternGuard {
  let timeout = FIRST_TIMEOUT_MS
  return <Result>(search: () => Result): Result => {
    const results: Result[] = []
    Reflect.set(globalThis, SEARCH, () => results.push(search()))
    try {
      RUN_SEARCH.runInThisContext({ timeout })
    } catch (error) {
      if (systemErrorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      timeout = LATER_TIMEOUT_MS
      throw redactionLimit('a pattern of the project takes too long')
    } finally {
      Reflect.deleteProperty(globalThis, SEARCH)
    }
    return results[0]!
  }
}

const SEARCH = Symbol.for('reelay.search')
const RUN_SEARCH = new Script(`globalThis[Symbol.for('reelay.search')]()`)
/** More than any message takes within its limit of work. */
const FIRST_TIMEOUT_MS = 4000
/** A pattern that was too slow once will be so again, and the session must not wait that long for every message. */
const LATER_TIMEOUT_MS = 500

function readRule(rule: Setting): RedactionRule {
  const { name, pattern, keywords } = rule.members(['name', 'pattern', 'keywords'])
  if (name === undefined || pattern === undefined) throw rule.invalid('needs "name" and "pattern"')
  return {
    name: name.text(),
    pattern: readPattern(pattern),
    keywords: keywords?.texts() ?? [],
    isLearned: true,
  }
}

function readRuleName(setting: Setting): string {
  const name = setting.text()
  if ([...defaultRules(), EMAIL_RULE].some((rule) => rule.name === name)) return name
  throw setting.invalid(`turns off "${name}", which is not a rule`)
}

/** Patterns that together match almost every secret would turn redaction off. */
function readAllowedValues(list: Setting): readonly RegExp[] {
  const values = list.items().map((item) => {
    const value = readAllowedValue(item)
    if (allowsAlmostAnything([value])) throw item.invalid(ALLOWS_TOO_MUCH)
    return value
  })
  if (allowsAlmostAnything(values)) throw list.invalid(ALLOWS_TOO_MUCH)
  return values
}

const ALLOWS_TOO_MUCH = 'matches secrets of most kinds, so hardly anything would be redacted'

function readAllowedValue(setting: Setting): RegExp {
  if (setting.value instanceof RegExp) return readPattern(setting)
  const pattern = setting.as(() => parseValuePattern(setting.text()))
  return rejectEmptyMatch(setting, pattern)
}

function readPattern(setting: Setting): RegExp {
  const { value } = setting
  const pattern = setting.as(() =>
    value instanceof RegExp ? rejectSlowPattern(value) : parsePattern(setting.text()),
  )
  return rejectEmptyMatch(setting, pattern)
}

function rejectEmptyMatch(setting: Setting, pattern: RegExp): RegExp {
  if (!pattern.test('')) return pattern
  throw setting.invalid('matches the empty string, so it would match everywhere')
}
