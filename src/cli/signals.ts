import type { ProcessExit } from '../link/process/server-process.ts'

/** Aborts on SIGINT and SIGTERM, with the name of the signal as the reason. */
export function abortOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}

/** Resolves with the first signal that asks the process to end. */
export function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    if (process.platform !== 'win32') process.once('SIGHUP', resolve)
  })
}

/** Ends this process as the child process ended, so that the caller sees no difference. */
export function exitLike({ code, signal }: ProcessExit): void {
  if (signal === null) process.exit(code ?? 0)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  setTimeout(() => process.exit(1), 1000) // on Windows a signal does not end the process
}
