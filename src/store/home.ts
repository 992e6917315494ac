import { existsSync } from 'node:fs'
import { basename, join, resolve, sep } from 'node:path'
import { ReelayError } from '../errors.ts'

/** The folder of Reelay's own files: `REELAY_HOME`, or `.reelay` in the user's home folder. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env['REELAY_HOME'] || join(userHomeFolder(), '.reelay'))
}

/** Like `os.homedir()`, which reads the same variable. Loading `node:os` would cost time at every start. */
export function userHomeFolder(): string {
  return (
    (process.platform !== 'win32' && process.env['HOME']) || process.getBuiltinModule('node:os').homedir()
  )
}

/** The folder of tapes that are referred to by name. */
export function tapeFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(homeFolder(env), 'tapes')
}

/** The path of a tape. A text with a path separator or the ending `.jsonl` is a path; any other is a name in the tape folder. */
export function resolveTape(nameOrPath: string, env: NodeJS.ProcessEnv = process.env): string {
  if (isTapePath(nameOrPath)) return resolve(nameOrPath)
  const problem = nameProblem(nameOrPath)
  if (problem === undefined) return join(tapeFolder(env), `${nameOrPath}${TAPE_EXTENSION}`)
  throw new ReelayError(
    'NAME_INVALID',
    `${JSON.stringify(nameOrPath)} cannot be the name of a tape: ${problem}`,
    {
      hint: 'use letters (a to z), digits, dot, dash and underscore, or give a path such as ./my.tape.jsonl',
    },
  )
}

export const TAPE_EXTENSION = '.tape.jsonl'

/** A new tape as the user named it. A path without an ending, such as `tapes/notes`, gets that of tapes. Pipes exist, and are used as they are. */
export function newTapeArgument(nameOrPath: string): string {
  const hasEnding = basename(nameOrPath).includes('.') || /[/\\]$/.test(nameOrPath)
  if (!isTapePath(nameOrPath) || hasEnding || existsSync(nameOrPath)) return nameOrPath
  return nameOrPath + TAPE_EXTENSION
}

const MAX_NAME_LENGTH = 120

/** Returns true for a path, and false for a name. */
export function isTapePath(nameOrPath: string): boolean {
  return nameOrPath.includes('/') || nameOrPath.includes(sep) || nameOrPath.endsWith('.jsonl')
}

/** Returns true if a tape in the tape folder can have this name. */
export function isTapeName(text: string): boolean {
  return !isTapePath(text) && nameProblem(text) === undefined
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name.length > MAX_NAME_LENGTH)
    return `it has ${name.length} characters, and ${MAX_NAME_LENGTH} are allowed`
  if (name.startsWith('.')) return 'it begins with a dot'
  const odd = /[^A-Za-z0-9._-]/u.exec(name)?.[0]
  if (odd !== undefined) return `it contains ${JSON.stringify(odd)}`
  return WINDOWS_DEVICE.test(name) ? 'Windows reserves it for a device' : undefined
}

// Windows reserves these names with any ending, such as `con.tape.jsonl`. Tapes are moved between systems.
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
