import { redactionConfig } from '../config/redaction-config.ts'
import { Redactor } from '../redact/redactor.ts'
import { ruleSet } from '../redact/rule-set.ts'
import { keyForRecording } from '../store/redaction-key.ts'

/** How a recording treats secrets: stand-ins by default, and e-mail addresses too when asked; `false` leaves everything plain. */
export type RedactOption = false | { readonly email?: boolean }

export interface RedactionFacts {
  readonly redact: RedactOption | undefined
  /** Where the project's config is looked for. */
  readonly folder?: string
  /** What the server sees: values of variables whose names speak of secrets are replaced everywhere. */
  readonly env?: NodeJS.ProcessEnv
}

/** What replaces secrets in one recording; undefined when the user wants none of it. */
export function redactionFor({
  redact,
  folder = process.cwd(),
  env = process.env,
}: RedactionFacts): Redaction | undefined {
  if (redact === false) return undefined
  const config = redactionConfig(folder)
  const { key, trouble } = keyForRecording()
  const rules = ruleSet({ ...config, email: redact?.email ?? config.email ?? false })
  const redactor = new Redactor({ key, rules })
  redactor.learnEnv(env)
  return { redactor, trouble }
}

export interface Redaction {
  readonly redactor: Redactor
  /** Why the tape has a key of its own, which is forgotten. */
  readonly trouble: string | undefined
}
