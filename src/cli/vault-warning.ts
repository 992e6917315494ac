import type { Copied } from '../share/share-tape.ts'
import { resolveTape } from '../store/home.ts'
import { isForGit } from '../store/vault-in-git.ts'
import { vaultPlace } from '../store/vault-place.ts'
import type { TapeArgs } from './tape-args.ts'
import { say, sumUpVault } from './record-talk.ts'

/** Refuses a vault that others could read, before anything is started; says aloud of any other what it is. */
export function warnOfVault({ output, name, redact }: Pick<TapeArgs, 'output' | 'name' | 'redact'>): void {
  if (redact !== false && redact.vault !== undefined)
    warnOf(vaultPlace(redact.vault, output ?? resolveTape(name ?? 'unnamed')))
}

/** The same of a copy that was made. */
export function warnOfCopied({ vault }: Copied): void {
  if (vault === undefined) return
  warnOf(vault.path)
  sumUpVault(vault)
}

function warnOf(path: string): void {
  say(`WARNING: --vault: the real values of secrets are written to ${path}; keep it to yourself`)
  if (isForGit(path))
    say(
      `WARNING: ${path} is in a git work tree that does not ignore it: add it to .gitignore, or put it elsewhere`,
    )
}
