import { readRedactionConfig } from '../config/redaction-config.ts'
import { Redactor } from '../redact/redactor.ts'
import { redactionRuleSet, type RedactionRuleSet } from '../redact/rule-set.ts'
import { keyForRecording } from '../store/redaction-key.ts'
import { Vault } from '../store/vault.ts'

/** How a recording treats secrets: stand-ins by default, and e-mail addresses too when asked; `false` leaves everything plain. */
export type RedactOption =
  | false
  | {
      readonly email?: boolean
      /** A file that is given the real values behind the stand-ins, for a replay. Without it they are written nowhere. */
      readonly vault?: string
      /** Values that are secret because somebody says so. */
      readonly values?: readonly string[]
    }

export interface RecordingRedaction {
  readonly redactor: Redactor
  /** Why the tape has a key of its own, which is forgotten. */
  readonly trouble: string | undefined
}

/** What replaces secrets in one recording; undefined when the user wants none of it. */
export function createRedaction(
  redact: RedactOption | undefined,
  env?: NodeJS.ProcessEnv,
): RecordingRedaction | undefined {
  const rules = redactionRulesFor(redact)
  return rules && redactionWith(rules, { env, values: knownSecretValues(redact) })
}

/** What is looked for, by the option and the config in the working directory. */
export function redactionRulesFor(redact: RedactOption | undefined): RedactionRuleSet | undefined {
  if (redact === false) return undefined
  const config = readRedactionConfig(process.cwd())
  return redactionRuleSet({ ...config, email: redact?.email ?? config.email ?? false })
}

/** Values of the variables that the server sees are replaced everywhere, if their names speak of secrets. */
export function redactionWith(
  rules: RedactionRuleSet,
  { env = process.env, values = [] }: KnownSecrets = {},
): RecordingRedaction {
  const { key, trouble } = keyForRecording()
  const redactor = new Redactor({ key, rules })
  redactor.learnEnv(env)
  for (const value of values) redactor.learn(value)
  return { redactor, trouble }
}

/** What is known to be secret before anything is read. */
interface KnownSecrets {
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly values?: readonly string[]
}

export function knownSecretValues(redact: RedactOption | undefined): readonly string[] {
  return redact === false ? [] : (redact?.values ?? [])
}

/** The vault that a recording was asked for: none, unless somebody did. */
export function openRecordingVault(
  redact: RedactOption | undefined,
  tape: string,
  env?: NodeJS.ProcessEnv,
): Vault | undefined {
  if (redact === false || redact?.vault === undefined) return undefined
  return new Vault(redact.vault, { tape, env })
}
