import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ReelayError } from '../../errors.ts'

/** Runs a line of the shell before each run; what it prints is talk, and it can read the number of the run. */
export function beforeRun(line: string | undefined): ((run: number) => Promise<void>) | undefined {
  if (line === undefined) return undefined
  return async (run) => {
    const env = { ...process.env, REELAY_RUN: String(run) }
    // Descriptor 2 twice: our stdout holds the results alone.
    const child = spawn(line, { shell: true, stdio: ['ignore', 2, 2], env })
    const [code]: unknown[] = await once(child, 'close')
    if (code !== 0)
      throw failed(line, typeof code === 'number' ? `ended with ${code}` : 'was ended by a signal')
  }
}

function failed(line: string, why: string): ReelayError {
  return new ReelayError('BEFORE_RUN_FAILED', `--before-run ${JSON.stringify(line)} ${why}`, {
    hint: 'run the line by hand; nothing was sent, because the world may not be as the recording found it',
  })
}
