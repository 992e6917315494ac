import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { startKillGuard, type KillGuard } from '../../transport/guard.ts'

/** How a process ended: exactly one of the two is set. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server that runs as our child, at the head of a process group of its own. */
export interface ServerProcess {
  readonly command: readonly string[]
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Undefined when it could not be started. */
  readonly pid: number | undefined
  /** Ends the group if we are killed. */
  readonly guard: KillGuard
  /** Rejects with the system's error when the command could not be started. */
  readonly exited: Promise<ProcessExit>
}

export interface StartServerOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** What the user or the client says to us is meant for the server. */
export const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
]

/** Starts the server command with pipes. This file is on the way to the first spawn: it loads next to nothing. */
export async function startServer(
  command: readonly [string, ...string[]],
  options: StartServerOptions = {},
): Promise<ServerProcess> {
  const [file, ...args] = command
  const windows = process.platform === 'win32'
  // On Windows, npx and its like are .cmd files, which Node refuses to start by itself.
  const start = windows ? ((await import('cross-spawn')).default as unknown as typeof spawn) : spawn
  // The guard is there before the server is: our death can leave one behind only between the next two calls.
  const guard = startKillGuard()
  // A group of its own, so that the server's children can be ended with it, and Ctrl+C reaches it once: through us.
  const child = start(file, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'], detached: !windows })
  if (child.pid === undefined) guard.dismiss()
  else guard.watch(child.pid)
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  exited.catch(() => {}) // whoever awaits it is told; until then it must not end the process
  return { command, child, pid: child.pid, guard, exited }
}
