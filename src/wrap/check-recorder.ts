import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { text } from 'node:stream/consumers'
import { startServer } from '../link/process/start.ts'
import type { DoctorFinding } from './doctor/local-checks.ts'

const START_TIMEOUT_MS = 10_000 // what Codex gives a server to start

/** What is wrong with the recorders that were started already: each is started once, however many entries have it. */
export type RecorderCheckCache = Map<string, Promise<string | undefined>>

/** Whether the recorder of an entry is there and answers. It is asked for its version, so no server is started. */
export async function checkRecorder(
  starter: readonly string[],
  server: string,
  tried: RecorderCheckCache,
): Promise<readonly DoctorFinding[]> {
  const again = `reelay unwrap ${server} && reelay wrap ${server}`
  const gone = starter.find((word) => isAbsolute(word) && !existsSync(word))
  if (gone !== undefined) {
    const about = `its recorder is gone: there is no ${gone}`
    return [
      { kind: 'recorder-gone', about, hint: `the server cannot start like this; ${again} uses this Reelay` },
    ]
  }
  if (mayDownload(starter)) return []
  const trying = tried.get(starter.join('\0')) ?? recorderProblem(starter)
  tried.set(starter.join('\0'), trying)
  const problem = await trying
  if (problem === undefined) return []
  return [{ kind: 'recorder-fails', about: `its recorder does not start: ${problem}`, hint: `try ${again}` }]
}

/** npx and its like fetch what they do not have, which a look must not set off. */
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
    if (code !== 0) return `it ended with ${code ?? signal}`
    return /^\d+\.\d+\.\d+/.test(said) ? undefined : 'it does not tell a version'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
    guard.dismiss()
  }
}
