import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ReelayError } from '../../errors.ts'
import { signalGroup } from '../../transport/process-group.ts'

/** Runs a line of the shell before each run; what it prints is talk, and it can read the number of the run. It ends when the run is stopped. */
export function createBeforeRun(
  line: string | undefined,
  stop: AbortSignal,
): ((run: number) => Promise<void>) | undefined {
  if (line === undefined) return undefined
  return async (run) => {
    if (stop.aborted) return
    const env = { ...process.env, REELAY_RUN: String(run) }
    // Descriptor 2 twice: our stdout holds the results alone.
    // A group of its own, so that all that the line starts ends with it.
    const child = spawn(line, { shell: true, stdio: ['ignore', 2, 2], env, detached: !IS_WINDOWS })
    const end = (): void => void (child.pid !== undefined && signalGroup(child.pid, 'SIGTERM'))
    stop.addEventListener('abort', end, { once: true })
    const [code]: unknown[] = await once(child, 'close')
    stop.removeEventListener('abort', end)
    if (code !== 0 && !stop.aborted)
      throw beforeRunFailed(line, typeof code === 'number' ? `ended with ${code}` : 'was ended by a signal')
  }
}

const IS_WINDOWS = process.platform === 'win32'

function beforeRunFailed(line: string, why: string): ReelayError {
  return new ReelayError('BEFORE_RUN_FAILED', `--before-run ${JSON.stringify(line)} ${why}`, {
    hint: 'run the line by hand; nothing was sent, because the world may not be as the recording found it',
  })
}
