import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ReelayError } from '../errors.ts'
import { userHomeFolder } from './home.ts'

/** Where a vault may be, as a whole path; throws where its values would not be kept to their owner. */
export function checkVaultPath(path: string, tape: string): string {
  const whole = resolve(path)
  const folder = createVaultFolder(whole)
  const why =
    pathProblem(whole) ??
    fileProblem(whole) ??
    (IS_WINDOWS ? windowsFolderProblem(folder) : folderProblem(folder, tape))
  if (why !== undefined) throw vaultRefused(path, why)
  return join(folder, basename(whole))
}

const IS_WINDOWS = process.platform === 'win32'
const OTHERS_BITS = 0o077
const OTHERS_WRITE_BITS = 0o022
const STICKY_BIT = 0o1000

function createVaultFolder(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return realpathSync(dirname(path))
  } catch (error) {
    throw vaultRefused(path, error instanceof Error ? error.message : String(error))
  }
}

function pathProblem(path: string): string | undefined {
  if (path.endsWith('.jsonl')) return 'it is named like a tape, and tapes are given away'
  return existsSync(join(path, '.')) && statSync(path).isDirectory() ? 'it is a folder' : undefined
}

/** What is written behind a link may lie anywhere. */
function fileProblem(path: string): string | undefined {
  const file = lstatSync(path, { throwIfNoEntry: false })
  if (file === undefined) return undefined
  if (!file.isFile()) return 'it is a link, or something else than a file'
  return !IS_WINDOWS && (file.mode & OTHERS_BITS) !== 0
    ? 'others can read it; chmod 600 keeps it to yourself'
    : undefined
}

function folderProblem(folder: string, tape: string): string | undefined {
  const { mode } = statSync(folder)
  if ((mode & OTHERS_WRITE_BITS) !== 0 && (mode & STICKY_BIT) === 0)
    return 'others can write to its folder, and could put another file in its place'
  if ((mode & OTHERS_BITS) === 0 || !isWithin(folder, realPathIfExists(dirname(resolve(tape)))))
    return undefined
  return 'it lies with the tape, in a folder that others can open'
}

/** Modes mean nothing there; what lies in the folder of a user is kept from others. */
function windowsFolderProblem(folder: string): string | undefined {
  return isWithin(folder, realPathIfExists(userHomeFolder())) ? undefined : 'it is outside of your own folder'
}

function realPathIfExists(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder
}

function isWithin(folder: string, outer: string): boolean {
  return folder === outer || folder.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}

export function vaultRefused(path: string, why: string): ReelayError {
  return new ReelayError('VAULT_REFUSED', `the vault ${path} is not written: ${why}`, {
    hint: 'put it into a folder of your own, away from tapes, such as ~/.reelay/vaults/my-project.env',
  })
}
