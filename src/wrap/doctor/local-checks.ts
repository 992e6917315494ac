import { existsSync, accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { startServer } from '../../link/process/start.ts'

/** A problem and how to fix it. */
export interface DoctorFinding {
  readonly kind:
    | 'recorder-gone'
    | 'recorder-fails'
    | 'variable-missing'
    | 'server-wants-login'
    | 'server-fails'
    | 'server-moved'
    | 'server-unreachable'
    | 'not-remembered'
    | 'no-longer-wrapped'
    | 'config-refused'
    | 'tape-unusable'
    | 'tapes-unwritable'
    | 'tapes-not-private'
  readonly about: string
  readonly hint: string
}

const START_TIMEOUT_MS = 10_000 // Codex gives a server this long to start

/** Results by recorder: each recorder is started once, however many entries use it. */
export type RecorderCheckCache = Map<string, Promise<string | undefined>>

/** Checks that the recorder of an entry exists and responds. Asks for its version, so that no server is started. */
export async function checkRecorder(
  starter: readonly string[],
  server: string,
  tried: RecorderCheckCache,
): Promise<readonly DoctorFinding[]> {
  const again = `reelay unwrap ${server} && reelay wrap ${server}`
  const gone = starter.find((word) => isAbsolute(word) && !existsSync(word))
  if (gone !== undefined) {
    const about = `its recorder does not exist: ${gone}`
    return [
      { kind: 'recorder-gone', about, hint: `the server cannot start; run ${again} to use this Reelay` },
    ]
  }
  if (mayDownload(starter)) return []
  const trying = tried.get(starter.join('\0')) ?? recorderProblem(starter)
  tried.set(starter.join('\0'), trying)
  const problem = await trying
  if (problem === undefined) return []
  return [{ kind: 'recorder-fails', about: `its recorder does not start: ${problem}`, hint: `try ${again}` }]
}

/** npx and similar programs download what is missing, which a check must not cause. */
function mayDownload([, program]: readonly string[]): boolean {
  return program !== undefined && !isAbsolute(program)
}

async function recorderProblem([file = '', ...args]: readonly string[]): Promise<string | undefined> {
  const { child, exited, guard } = await startServer([file, ...args, '--version'])
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
  child.stdin.on('error', () => {}).end()
  child.stderr.resume()
  try {
    const [said, { code, signal }] = await Promise.all([text(child.stdout), exited])
    if (signal === 'SIGKILL') return `no answer within ${START_TIMEOUT_MS / 1000} s`
    if (code !== 0) return `it exited with ${code ?? signal}`
    return /^\d+\.\d+\.\d+/.test(said) ? undefined : 'it prints no version'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
    guard.dismiss()
  }
}

/** Checks that recorders can write to the tape folder and that other users cannot read it. */
export function checkTapeFolder(folder: string, platform: NodeJS.Platform): readonly DoctorFinding[] {
  const existing = nearestExistingFolder(folder)
  const problem = folderProblem(existing)
  if (problem !== undefined) {
    const about = `tapes cannot be written to ${folder}: ${problem}`
    return [
      {
        kind: 'tapes-unwritable',
        about,
        hint: 'sessions continue without a tape; check the permissions of the folder',
      },
    ]
  }
  const mode = statSync(existing).mode & 0o777
  if (existing !== folder || platform === 'win32' || (mode & 0o077) === 0) return []
  const about = `other users can read ${folder}: its mode is 0${mode.toString(8)}`
  return [{ kind: 'tapes-not-private', about, hint: `tapes may contain secrets: run chmod 700 ${folder}` }]
}

/** A folder that does not exist yet is created by the first recorder. */
function nearestExistingFolder(folder: string): string {
  const above = dirname(folder)
  return existsSync(folder) || above === folder ? folder : nearestExistingFolder(above)
}

function folderProblem(folder: string): string | undefined {
  if (!statSync(folder).isDirectory()) return `${folder} is no folder`
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
