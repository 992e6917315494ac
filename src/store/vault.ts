import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  writeSync,
  existsSync,
  lstatSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { errorMessage, ReelayError } from '../errors.ts'
import { makeFolder } from './file/write.ts'
import { userHomeFolder } from './home.ts'

/** The result of writing a vault. */
export interface VaultSummary {
  readonly path: string
  /** Number of new values. */
  readonly added: number
  /** Why values are missing. */
  readonly trouble: string | undefined
}

/**
 * A file with the real values of placeholders, which only its owner can read. Lines are only appended, each time with one write,
 * so that several recorders can share the file, and a crash loses nothing.
 */
export class Vault {
  readonly path: string
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #saved = new Set<string>()
  #added = 0
  #trouble: string | undefined
  #source: () => readonly string[] = () => []
  #timer: NodeJS.Timeout | undefined

  /** Throws if others could read the file. A value gets the name of the environment variable that contains it. */
  constructor(path: string, { tape, env = process.env }: VaultOptions) {
    this.path = checkVaultPath(path, tape)
    this.#env = env
    this.#write([])
    if (this.#trouble !== undefined) throw vaultRefused(path, this.#trouble)
  }

  /** Saves the values every second, because a recorder may be killed. */
  autoSave(values: () => readonly string[]): void {
    this.#source = values
    this.#timer = setInterval(() => this.save(values()), SAVE_INTERVAL_MS).unref()
  }

  /** Does not throw, so that a session never fails because of its vault. The summary reports the problem. */
  save(values: readonly string[]): void {
    if (values.length !== this.#saved.size) this.#write(values)
  }

  /** Saves the remaining values. Closing the vault again does nothing. */
  close(): VaultSummary {
    clearInterval(this.#timer)
    this.save(this.#source())
    return { path: this.path, added: this.#added, trouble: this.#trouble }
  }

  #write(values: readonly string[]): void {
    const fresh = values.filter((value) => !this.#saved.has(value))
    try {
      this.#added += appendLines(this.path, (known) =>
        fresh
          .filter((value) => !known.has(value))
          .map((value) => formatVaultLine(this.#nameOf(value), value)),
      )
      for (const value of fresh) this.#saved.add(value)
      this.#trouble = undefined
    } catch (error) {
      this.#trouble = errorMessage(error)
    }
  }

  #nameOf(value: string): string {
    const name = Object.keys(this.#env).find((each) => this.#env[each] === value)
    return name !== undefined && /^[\w.-]+$/.test(name) ? name : 'SECRET'
  }
}

interface VaultOptions {
  /** The tape with the placeholders. The vault must not be in a folder where others can read both. */
  readonly tape: string
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

const SAVE_INTERVAL_MS = 1000
const VAULT_HEADER =
  '# The real values of placeholders on Reelay tapes, for --secrets of replay, verify and serve.\n# Keep this file private: it contains your secrets.\n'

/** Appends lines with one write, so that lines of other recorders cannot get between. Returns the number of lines. */
function appendLines(path: string, linesFor: (known: ReadonlySet<string>) => readonly string[]): number {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants
  const file = openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
  try {
    if (process.platform !== 'win32' && (fstatSync(file).mode & 0o077) !== 0)
      throw new Error('other users can read it now')
    const before = readFileSync(file, 'utf8')
    const lines = linesFor(valuesAlreadyIn(before))
    const text = (before === '' ? VAULT_HEADER : before.endsWith('\n') ? '' : '\n') + lines.join('')
    if (text === '') return 0
    const bytes = Buffer.from(text)
    if (writeSync(file, bytes) < bytes.length) throw new Error('the disk is full')
    fsyncSync(file)
    return lines.length
  } finally {
    closeSync(file)
  }
}

/** Returns nothing for a file that cannot be parsed, because users may edit it. */
function valuesAlreadyIn(text: string): ReadonlySet<string> {
  const values = parseVault(text)
  return new Set('line' in values ? [] : values)
}

/** Returns the absolute path of a vault. Throws if others could read it there. */
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
    makeFolder(dirname(path))
    return realpathSync(dirname(path))
  } catch (error) {
    throw vaultRefused(path, errorMessage(error))
  }
}

function pathProblem(path: string): string | undefined {
  if (path.endsWith('.jsonl')) return 'it has the name of a tape, and tapes are shared'
  return existsSync(join(path, '.')) && statSync(path).isDirectory() ? 'it is a folder' : undefined
}

/** Rejects links, because their target could be anywhere. */
function fileProblem(path: string): string | undefined {
  const file = lstatSync(path, { throwIfNoEntry: false })
  if (file === undefined) return undefined
  if (!file.isFile()) return 'it is a link or not a regular file'
  return !IS_WINDOWS && (file.mode & OTHERS_BITS) !== 0
    ? 'other users can read it; run chmod 600 on it'
    : undefined
}

function folderProblem(folder: string, tape: string): string | undefined {
  const { mode } = statSync(folder)
  if ((mode & OTHERS_WRITE_BITS) !== 0 && (mode & STICKY_BIT) === 0)
    return 'other users can write to its folder and could replace the file'
  if ((mode & OTHERS_BITS) === 0 || !isWithin(folder, realPathIfExists(dirname(resolve(tape)))))
    return undefined
  return 'it is in the folder of the tape, and other users can open that folder'
}

/** File modes have no meaning on Windows, but other users cannot read the home folder. */
function windowsFolderProblem(folder: string): string | undefined {
  return isWithin(folder, realPathIfExists(userHomeFolder())) ? undefined : 'it is outside your home folder'
}

function realPathIfExists(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder
}

function isWithin(folder: string, outer: string): boolean {
  return folder === outer || folder.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}

function vaultRefused(path: string, why: string): ReelayError {
  return new ReelayError('VAULT_REFUSED', `the vault ${path} cannot be used: ${why}`, {
    hint: 'put it into a private folder away from tapes, such as ~/.reelay/vaults/my-project.env',
  })
}

/** Formats a value as `NAME=value`. Values may contain line breaks. */
export function formatVaultLine(name: string, value: string): string {
  return `${name}=${PLAIN_VALUE.test(value) ? value : JSON.stringify(value)}\n`
}

/** The number of a line that cannot be parsed. */
interface BadVaultLine {
  readonly line: number
}

/**
 * Parses a vault, or any file of lines `NAME=value`. Escapes such as `\n` are resolved between double quotes, but not between
 * single quotes or without quotes.
 */
export function parseVault(text: string): readonly string[] | BadVaultLine {
  const values: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const value = valueOfVaultLine(line)
    if (value === undefined || value === '') return { line: index + 1 }
    values.push(value)
  }
  return values
}

/** A value that needs no quotes. */
const PLAIN_VALUE = /^[\w.~+/:@%,-][\w.~+/:@%,=-]*$/
const VAULT_LINE = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(?:(?<double>".*")|'(?<single>.*)'|(?<bare>.*?))\s*$/s

function valueOfVaultLine(line: string): string | undefined {
  const { double, single, bare } = VAULT_LINE.exec(line)?.groups ?? {}
  return double === undefined ? (single ?? bare) : unquoteVaultValue(double)
}

/** A text that is not a JSON string, such as `"C:\dir"`, is used without its quotes. */
function unquoteVaultValue(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

/** Returns true for a file in a git work tree that git does not ignore: it could be committed by accident. */
export function isCommittable(path: string): boolean {
  if (!isInGitWorkTree(dirname(path))) return false
  // The config of a foreign repository could make git start any program as a file system monitor.
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
