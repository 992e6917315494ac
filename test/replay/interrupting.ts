import { once } from 'node:events'
import { isAlive, REELAY, start, type Running } from '../support/recorder.ts'

export interface Interrupted {
  readonly exit: Awaited<Running['exited']>
  readonly out: string
  readonly err: string
  /** Servers that are still there. */
  readonly left: readonly number[]
  readonly hasStack: boolean
  readonly hasWarning: boolean
}

/** How every run ends that is interrupted. */
export const LEFT_WELL = { exit: { code: 130, signal: null }, left: [], hasStack: false, hasWarning: false }

/** Interrupts the command as soon as it, or the server `slow-calls`, has said something so often. With `-v`, the stderr of the server is shown at once. */
export async function interrupted(
  args: readonly string[],
  server: readonly string[],
  { said, times }: { readonly said: string; readonly times: number },
): Promise<Interrupted> {
  const run = start([process.execPath, REELAY, ...args, '-v', '--', ...server])
  run.child.stdin.end()
  while (run.stderr().split(said).length <= times) await once(run.child.stderr, 'data')
  run.child.kill('SIGINT')
  const exit = await run.exited
  const err = run.stderr()
  const pids = [...err.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid))
  return {
    exit,
    out: run.stdout().toString(),
    err,
    left: pids.filter(isAlive),
    hasStack: /^ +at /m.test(err),
    hasWarning: err.includes('Warning'),
  }
}
