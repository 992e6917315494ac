import { Vault } from '../store/vault.ts'
import type { RedactOption } from './redaction.ts'

/** The vault that a recording was asked for: none, unless somebody did. */
export function openRecordingVault(
  redact: RedactOption | undefined,
  tape: string,
  env?: NodeJS.ProcessEnv,
): Vault | undefined {
  if (redact === false || redact?.vault === undefined) return undefined
  return new Vault(redact.vault, { tape, env })
}
