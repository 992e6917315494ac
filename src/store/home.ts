import { join, resolve, sep } from 'node:path'
import { ReelayError } from '../errors.ts'

/** Where Reelay keeps what is its own: `REELAY_HOME`, or `.reelay` in the user's home folder. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env['REELAY_HOME'] || join(userHomeFolder(), '.reelay'))
}

/** As `os.homedir()` says; to load it takes time at every start, and it looks at the same variable. */
export function userHomeFolder(): string {
  return (
    (process.platform !== 'win32' && process.env['HOME']) || process.getBuiltinModule('node:os').homedir()
  )
}

/** Where tapes that have a name live. */
export function tapeFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(homeFolder(env), 'tapes')
}

/** The file of a tape. What holds a path separator or ends in `.jsonl` is a path; everything else is a name in the tape folder. */
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

/** What the file of a named tape ends in. */
export const TAPE_EXTENSION = '.tape.jsonl'

const MAX_NAME_LENGTH = 120

/** Whether it is the path of a tape, and no name. */
export function isTapePath(nameOrPath: string): boolean {
  return nameOrPath.includes('/') || nameOrPath.includes(sep) || nameOrPath.endsWith('.jsonl')
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name.length > MAX_NAME_LENGTH)
    return `it has ${name.length} characters, and ${MAX_NAME_LENGTH} are allowed`
  if (name.startsWith('.')) return 'it begins with a dot'
  const odd = /[^A-Za-z0-9._-]/u.exec(name)?.[0]
  if (odd !== undefined) return `it holds ${JSON.stringify(odd)}`
  return WINDOWS_DEVICE.test(name) ? 'Windows reserves it for a device' : undefined
}

// Reserved with any ending: `con.tape.jsonl` cannot be made on Windows, and tapes travel.
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
