import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage, ReelayError } from '../errors.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import { writePrivateFile } from '../store/file/write.ts'
import { homeFolder, userHomeFolder } from '../store/home.ts'

// A config decides what is redacted, and a config in JavaScript runs code. This file decides which configs are used: those
// of the project, that no other user could have written, and of those in JavaScript only the ones that the user has trusted.

const TEXT_EXTENSIONS = ['.yaml', '.yml', '.json']
const CODE_EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
const CONFIG_EXTENSIONS = [...TEXT_EXTENSIONS, ...CODE_EXTENSIONS]

/** Returns true for a config that is a module: reading it runs its code. */
export function isCodeConfig(file: string): boolean {
  return CODE_EXTENSIONS.some((ending) => file.endsWith(ending))
}

/**
 * Finds the config of a folder: there or in the nearest folder above it, up to the root of the repository or the home folder.
 * Throws if another user owns the file or its folder, or can write to them.
 */
export function findConfigFile(folder: string): string | undefined {
  const file = nearestConfigFile(folder)
  if (file !== undefined) rejectForeignFile(file)
  return file
}

function nearestConfigFile(start: string): string | undefined {
  for (const folder of projectFolders(start)) {
    const file = configFileIn(folder)
    if (file !== undefined) return file
  }
  return undefined
}

/**
 * The folders that may contain the config, the nearest first. Outside of a repository and of the home folder, they end below
 * the first folder that others could write to, such as /tmp: anybody could leave a config there for everybody.
 */
function projectFolders(start: string): readonly string[] {
  const home = realPathOf(userHomeFolder())
  const folders = [start]
  for (let folder = start; folder !== home && folder !== dirname(folder);) {
    if (isRepositoryRoot(folder)) return folders
    folder = dirname(folder)
    folders.push(folder)
  }
  if (folders.at(-1) === home) return folders
  const foreign = folders.findIndex((folder, at) => at > 0 && foreignReason(folder) !== undefined)
  return foreign < 0 ? folders : folders.slice(0, foreign)
}

const REPOSITORY_MARKS = ['.git', '.hg', '.jj']

/** In a shared folder such as /tmp, anybody could have left the mark of a repository. */
function isRepositoryRoot(folder: string): boolean {
  if (!REPOSITORY_MARKS.some((mark) => existsSync(join(folder, mark)))) return false
  return process.getuid === undefined || (statSync(folder).mode & STICKY_BIT) === 0
}

function configFileIn(folder: string): string | undefined {
  const stem = join(folder, 'reelay.config')
  const [file, other] = CONFIG_EXTENSIONS.map((ending) => stem + ending).filter((path) => existsSync(path))
  if (other === undefined) return file
  throw new ReelayError('SETTINGS_INVALID', `there are both ${file} and ${other}`, {
    hint: 'keep one of them',
  })
}

/** Checks a link and its target, because a repository can contain a link to a file anywhere. */
function rejectForeignFile(file: string): void {
  const target = realPathOf(file)
  for (const path of new Set([dirname(file), dirname(target), target])) {
    const why = foreignReason(path)
    if (why === undefined) continue
    throw new ReelayError('CONFIG_NOT_TRUSTED', `the config ${file} is not used: ${path} ${why}`, {
      hint: 'if it is yours, correct the owner with chown or the mode with chmod go-w; otherwise work in another folder',
    })
  }
}

const STICKY_BIT = 0o1000
const GROUP_WRITE_BIT = 0o020
const OTHERS_WRITE_BIT = 0o002

/**
 * Why another user could have written a file or folder. Root may own it, because root can do everything anyway. The group may
 * write if it is the private group of the user, which many systems create with the number of the user. Windows has no such
 * numbers, and nothing is checked there.
 */
function foreignReason(path: string): string | undefined {
  const own = process.getuid?.()
  if (own === undefined) return undefined
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'does not exist'
  const { uid, gid, mode } = found
  if (uid !== own && uid !== 0) return `belongs to another user (${uid})`
  if ((mode & OTHERS_WRITE_BIT) !== 0 || ((mode & GROUP_WRITE_BIT) !== 0 && gid !== own))
    return 'can be written by other users'
  return undefined
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Throws unless the user has trusted the code of this config. */
export function requireTrust(file: string, env: NodeJS.ProcessEnv = process.env): void {
  if (env['REELAY_TRUST'] === '1') return
  const known = trustedConfigs(env)[realPathOf(file)]
  if (known !== undefined && known === contentHash(file)) return
  const why = known === undefined ? 'you have not trusted it' : 'it has changed since you trusted it'
  throw new ReelayError('CONFIG_NOT_TRUSTED', `the config ${file} is code, and ${why}`, {
    hint: 'read it, then run: reelay trust; in CI set REELAY_TRUST=1, or name the file with --config',
  })
}

/** The hashes of trusted configs by path. A damaged list counts as empty, because then nothing is trusted. */
export function trustedConfigs(env: NodeJS.ProcessEnv = process.env): Readonly<Record<string, string>> {
  const file = trustFile(env)
  try {
    if (!existsSync(file) || foreignReason(file) !== undefined) return {}
    const configs = member(parseJson(readFileSync(file, 'utf8')), 'configs')
    const entries = isObject(configs) ? Object.entries(configs) : []
    return Object.fromEntries(
      entries.flatMap(([path, hash]) => (typeof hash === 'string' ? [[path, hash]] : [])),
    )
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Trusts the present content of a config. Returns its path and hash. */
export function trustConfig(file: string, env: NodeJS.ProcessEnv = process.env): readonly [string, string] {
  rejectForeignFile(file)
  const [path, hash] = [realPathOf(file), contentHash(file)]
  saveTrusted({ ...trustedConfigs(env), [path]: hash }, env)
  return [path, hash]
}

/** Returns true if the config was trusted. */
export function distrustConfig(file: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const { [realPathOf(file)]: known, ...others } = trustedConfigs(env)
  if (known !== undefined) saveTrusted(others, env)
  return known !== undefined
}

function trustFile(env: NodeJS.ProcessEnv): string {
  return join(homeFolder(env), 'trusted.json')
}

function saveTrusted(configs: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv): void {
  const file = trustFile(env)
  try {
    writePrivateFile(file, `${JSON.stringify({ configs }, undefined, 2)}\n`)
  } catch (cause) {
    throw new ReelayError('SETTINGS_UNWRITABLE', `${file} cannot be written: ${errorMessage(cause)}`, {
      hint: 'check the folder that REELAY_HOME names',
      cause,
    })
  }
}

function contentHash(file: string): string {
  try {
    const bytes = readFileSync(file)
    return `sha256:${process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')}`
  } catch (error) {
    throw unreadable(file, error)
  }
}

function unreadable(file: string, cause: unknown): ReelayError {
  return new ReelayError('SETTINGS_INVALID', `${file} cannot be read: ${errorMessage(cause)}`, {
    hint: 'check the path and the permissions',
    cause,
  })
}
