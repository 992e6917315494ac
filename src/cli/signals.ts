import type { ProcessExit } from '../link/process/start.ts'

/** Waits for whoever wants us to end. */
export function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    if (process.platform !== 'win32') process.once('SIGHUP', resolve)
  })
}

/** Whoever started us sees what it would have seen of the process that we ran for it. */
export function exitLike({ code, signal }: ProcessExit): void {
  if (signal === null) process.exit(code ?? 0)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  setTimeout(() => process.exit(1), 1000) // where a signal cannot end us, as on Windows
}
