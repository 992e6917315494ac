import { readRedactionConfig } from '../config/redaction-config.ts'
import { Redactor } from '../redact/redactor.ts'
import { redactionRuleSet, type RedactionRuleSet } from '../redact/rule-set.ts'
import { keyForRecording } from '../store/redaction-key.ts'
import { Vault } from '../store/vault.ts'

/** How a recording treats secrets. By default they are replaced by placeholders; `false` keeps everything unchanged. */
export type RedactOption =
  | false
  | {
      /** Also replaces e-mail addresses. */
      readonly email?: boolean
      /** A file for the real values behind the placeholders, for a later replay. Without it they are written nowhere. */
      readonly vault?: string
      /** Values that are known to be secret. */
      readonly values?: readonly string[]
    }

export interface RecordingRedaction {
  /** Replaces secrets; undefined if everything is kept unchanged. */
  readonly redactor: Redactor | undefined
  /** Keeps the values that were replaced, if the user asked for that. */
  readonly vault: Vault | undefined
  /** Why the user's redaction key could not be read. The tape then uses a temporary key. */
  readonly trouble: string | undefined
}

interface RedactionContext {
  /** The tape that the vault belongs to. */
  readonly tape: string
  /** The environment of the server. Values of variables whose names suggest a secret are replaced everywhere. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** Sets up redaction for one recording. */
export function openRedaction(
  redact: RedactOption | undefined,
  { tape, env }: RedactionContext,
): RecordingRedaction {
  const rules = redactionRulesFor(redact)
  const vault = openVault(redact, tape, env)
  if (rules === undefined) return { redactor: undefined, vault, trouble: undefined }
  const keepsValues = vault !== undefined
  return { ...createRedactor(rules, { env, values: knownSecretValues(redact), keepsValues }), vault }
}

/** Returns the rules of the option and of the config in the working directory; undefined if nothing is redacted. */
export function redactionRulesFor(redact: RedactOption | undefined): RedactionRuleSet | undefined {
  if (redact === false) return undefined
  const config = readRedactionConfig(process.cwd(), 'run')
  return redactionRuleSet({ ...config, email: redact?.email ?? config.email ?? false })
}

interface KnownSecrets {
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly values?: readonly string[]
  /** True if all values are needed later, for a vault. */
  readonly keepsValues: boolean
}

export function createRedactor(
  rules: RedactionRuleSet,
  { env = process.env, values = [], keepsValues }: KnownSecrets,
): { readonly redactor: Redactor; readonly trouble: string | undefined } {
  const { key, trouble } = keyForRecording()
  const redactor = new Redactor({ key, rules, maxWork: MAX_WORK_PER_MESSAGE, keepsValues })
  redactor.learnEnv(env)
  for (const value of values) redactor.learn(value)
  return { redactor, trouble }
}

/** About two seconds. A session must not wait longer for a message that was made to be slow, or is very large. */
const MAX_WORK_PER_MESSAGE = 20_000_000

export function knownSecretValues(redact: RedactOption | undefined): readonly string[] {
  return redact === false ? [] : (redact?.values ?? [])
}

/** Returns undefined unless the user asked for a vault. */
export function openVault(
  redact: RedactOption | undefined,
  tape: string,
  env?: NodeJS.ProcessEnv,
): Vault | undefined {
  if (redact === false || redact?.vault === undefined) return undefined
  return new Vault(redact.vault, { tape, env })
}
