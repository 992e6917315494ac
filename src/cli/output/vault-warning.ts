import type { TapeCopyResult } from '../../share/share-tape.ts'
import { resolveTape } from '../../store/home.ts'
import { isCommittable, checkVaultPath } from '../../store/vault.ts'
import type { RecordTapeArgs } from '../options/record-options.ts'
import { printNotice, printVaultSummary } from '../record/record-output.ts'

/** Rejects a vault that other users could read, before anything is started, and warns about any other. */
export function warnAboutVault({
  output,
  name,
  redact,
}: Pick<RecordTapeArgs, 'output' | 'name' | 'redact'>): void {
  if (redact !== false && redact.vault !== undefined)
    printVaultWarning(checkVaultPath(redact.vault, output ?? resolveTape(name ?? 'unnamed')))
}

/** Warns about the vault of a copy. */
export function warnAboutCopyVault({ vault }: TapeCopyResult): void {
  if (vault === undefined) return
  printVaultWarning(vault.path)
  printVaultSummary(vault)
}

function printVaultWarning(path: string): void {
  printNotice(`WARNING: --vault: the real values of secrets are written to ${path}; keep it to yourself`)
  if (isCommittable(path))
    printNotice(
      `WARNING: ${path} is in a git work tree that does not ignore it: add it to .gitignore, or choose another path`,
    )
}
