import { REELAY, start } from '../support/recorder.ts'

/** Runs the command to its end. */
export async function reelay(
  ...args: readonly string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const run = start([process.execPath, REELAY, ...args])
  run.child.stdin.end()
  const { code } = await run.exited
  return { code, out: run.stdout().toString(), err: run.stderr() }
}
