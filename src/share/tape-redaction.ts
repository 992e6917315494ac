import { readRedactionConfig } from '../config/redaction-config.ts'
import { ReelayError } from '../errors.ts'
import { Redactor } from '../redact/redactor.ts'
import { redactionRuleSet, mergeRuleChanges, type RedactionRuleChanges } from '../redact/rule-set.ts'
import { keyForRecording } from '../store/redaction-key.ts'
import type { TapeHeader } from '../tape/header.ts'

/** What replaces the secrets of a tape that is there already. Stand-ins that this key has made stay as they are. */
export function createTapeRedactor(
  { redaction }: Pick<TapeHeader, 'redaction'>,
  changes: RedactionRuleChanges = {},
): Redactor {
  const { key, trouble } = keyForRecording()
  if (trouble !== undefined)
    throw new ReelayError('REDACTION_KEY', trouble, {
      hint: 'a tape that is redacted without a key can never be matched',
    })
  const before = { email: redaction?.rules.includes('email') === true }
  const rules = redactionRuleSet(
    mergeRuleChanges(mergeRuleChanges(readRedactionConfig(process.cwd()), changes), before),
  )
  const redactor = new Redactor({ key, rules, source: redaction?.key === key.name ? 'again' : 'fresh' })
  redactor.learnEnv(process.env)
  return redactor
}
