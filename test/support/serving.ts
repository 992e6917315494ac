import { resolve } from 'node:path'
import { REELAY, start, until, type Running } from './recorder.ts'

export interface Serving extends Running {
  /** The URLs that it printed so far. */
  readonly urls: () => readonly string[]
  /** Sends the signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<{ code: number | null; stderr: string }>
}

/** `reelay serve` over HTTP, in a process that may listen and reaches nobody: else it ends with exit code 99. */
export function startServing(tape: string, ...options: readonly string[]): Promise<Serving> {
  const guard = ['--require', resolve('test/fixtures/preload/no-outside.cjs')]
  return startWith(guard, { MAY_LISTEN: '1' }, [tape, ...options])
}

/** The same with a live server behind it. */
export function startServingLive(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Serving> {
  return startWith([], { CI: '', ...env }, args)
}

async function startWith(
  nodeArgs: readonly string[],
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<Serving> {
  const run = start([process.execPath, ...nodeArgs, REELAY, 'serve', ...args], {
    env: { ...process.env, ...env },
  })
  const urls = (): string[] => [...run.stderr().matchAll(/listening on (\S+)\n/g)].map(([, url = '']) => url)
  const wanted = args.filter((option) => option === '--http' || option === '--sse').length
  await until(() => urls().length >= wanted || run.child.exitCode !== null)
  const stop = async (
    signal: NodeJS.Signals = 'SIGTERM',
  ): Promise<{ code: number | null; stderr: string }> => {
    run.child.kill(signal)
    return { code: (await run.exited).code, stderr: run.stderr() }
  }
  return { ...run, urls, stop }
}
