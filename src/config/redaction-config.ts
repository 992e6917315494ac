import { ReelayError } from '../errors.ts'
import type { RedactionRuleChanges } from '../redact/rule-set.ts'
import { findProjectConfig } from './project-config.ts'
import { readRedactionSection } from './redaction-section.ts'

/** What the project says about redaction, or nothing. */
export function readRedactionConfig(folder: string): RedactionRuleChanges {
  try {
    const section = findProjectConfig(folder)?.section('redaction')
    return section === undefined ? {} : readRedactionSection(section)
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const hint = `${error.hint}; nothing is recorded with half of the rules`
    throw new ReelayError('REDACTION_CONFIG', error.message, { hint, cause: error })
  }
}
