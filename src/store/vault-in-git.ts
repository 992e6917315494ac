import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Whether a file could be committed by accident: it lies in a work tree of git, which does not say that it is ignored. */
export function isCommittable(path: string): boolean {
  if (!isInGitWorkTree(dirname(path))) return false
  // A repository may be a stranger's, and a file system monitor is a program of its choice.
  const args = ['-c', 'core.fsmonitor=false', 'check-ignore', '--quiet', '--', path]
  const { status } = spawnSync('git', args, { cwd: dirname(path), stdio: 'ignore', timeout: GIT_TIMEOUT_MS })
  return status !== 0
}

const GIT_TIMEOUT_MS = 2000

function isInGitWorkTree(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true
  const above = dirname(folder)
  return above !== folder && isInGitWorkTree(above)
}
