import type { Rule } from '../redact/rule.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { defaultRules, EMAIL_RULE } from '../redact/rules.ts'
import type { Setting } from './setting.ts'

/** The `redaction` section of a config: what it adds to the rules that come with Reelay, and takes from them. */
export function readRedactionSection(section: Setting): RuleChanges {
  const { rules, off, fields, allow, email } = section.members(['rules', 'off', 'fields', 'allow', 'email'])
  return {
    ...(rules && { rules: rules.items().map(ruleIn) }),
    ...(off && { off: off.items().map(knownRule) }),
    ...(fields && { fields: fields.texts() }),
    ...(allow && { allow: allow.items().map(allowedIn) }),
    ...(email && { email: email.flag() }),
  }
}

function ruleIn(rule: Setting): Rule {
  const { name, pattern, keywords } = rule.members(['name', 'pattern', 'keywords'])
  if (name === undefined || pattern === undefined) throw rule.broken('needs "name" and "pattern"')
  return {
    name: name.text(),
    pattern: patternIn(pattern),
    keywords: keywords?.texts() ?? [],
    isLearned: true,
  }
}

function knownRule(setting: Setting): string {
  const name = setting.text()
  if ([...defaultRules(), EMAIL_RULE].some((rule) => rule.name === name)) return name
  throw setting.broken(`switches off "${name}", and there is no such rule`)
}

/** `/…/` is a pattern; everything else is the value itself. */
function allowedIn(setting: Setting): RegExp {
  if (setting.value instanceof RegExp || WRITTEN.test(setting.text())) return patternIn(setting)
  return new RegExp(`^${setting.text().replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}$`)
}

const WRITTEN = /^\/(.*)\/([imsu]*)$/s

function patternIn(setting: Setting): RegExp {
  const pattern = setting.value instanceof RegExp ? setting.value : setting.as(writtenPattern)
  if (!pattern.test('')) return pattern
  throw setting.broken('matches nothing at all, so it would match everywhere')
}

function writtenPattern(setting: Setting): RegExp {
  const text = setting.text()
  const [, source = text, flags = ''] = WRITTEN.exec(text) ?? []
  return new RegExp(source, flags)
}
