import { ReelayError } from '../errors.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { projectConfig } from './project-config.ts'
import { readRedactionSection } from './redaction-section.ts'

/** What the project says about redaction, or nothing. */
export function redactionConfig(folder: string): RuleChanges {
  try {
    const section = projectConfig(folder)?.section('redaction')
    return section === undefined ? {} : readRedactionSection(section)
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const hint = `${error.hint}; nothing is recorded with half of the rules`
    throw new ReelayError('REDACTION_CONFIG', error.message, { hint, cause: error })
  }
}
