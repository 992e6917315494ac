import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Whether a file could be committed by accident: it lies in a work tree of git, which does not say that it is ignored. */
export function isForGit(path: string): boolean {
  if (!isInWorkTree(dirname(path))) return false
  // A repository may be a stranger's, and a file system monitor is a program of its choice.
  const args = ['-c', 'core.fsmonitor=false', 'check-ignore', '--quiet', '--', path]
  const { status } = spawnSync('git', args, { cwd: dirname(path), stdio: 'ignore', timeout: PATIENCE_MS })
  return status !== 0
}

const PATIENCE_MS = 2000

function isInWorkTree(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true
  const above = dirname(folder)
  return above !== folder && isInWorkTree(above)
}
