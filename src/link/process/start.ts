import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ReelayError } from '../../errors.ts'

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

interface StartServerOptions {
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

/** A watcher that ends a server's group if this process dies without a chance to do so itself. */
interface KillGuard {
  /** Tells it which group. */
  watch(pid: number): void
  dismiss(): void
}

/**
 * A client may end us with SIGKILL, which would have ended the server had it been started directly. The guard is a shell
 * that waits on a pipe: when we are gone it gives the group the time to leave by itself, then SIGTERM, then SIGKILL.
 */
function startKillGuard(): KillGuard {
  if (process.platform === 'win32') return { watch() {}, dismiss() {} }
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'reelay-guard'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: {},
  })
  guard.on('error', () => {}) // no shell: then only this last safety is missing
  guard.stdin.on('error', () => {})
  guard.unref()
  return {
    watch: (pid) => void guard.stdin.write(`${pid}\n`),
    dismiss: () => void guard.kill('SIGKILL'),
  }
}

const GUARD_SCRIPT = `
PATH=/usr/bin:/bin
read group || exit 0
read goodbye && exit 0
leave() {
  tries=$1
  while [ "$tries" -gt 0 ]; do
    kill -0 "-$group" 2>/dev/null || exit 0
    sleep 0.1
    tries=$((tries - 1))
  done
}
leave 10
kill -TERM "-$group" 2>/dev/null
leave 15
kill -KILL "-$group" 2>/dev/null
`

/** Why a server command did not start, in words that help. */
export async function serverStartError(server: ServerProcess): Promise<ReelayError> {
  const [file] = server.command
  const cause = await server.exited.then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  )
  if (cause?.code === 'ENOENT') {
    const hint = 'check the spelling and the PATH; relative paths start at the folder you are in'
    return new ReelayError('COMMAND_NOT_FOUND', `the server command ${file} was not found`, { hint, cause })
  }
  const message = `the server command ${file} could not be started: ${cause?.message}`
  return new ReelayError('COMMAND_NOT_RUNNABLE', message, {
    hint: 'try to run it by hand in the same folder',
    cause,
  })
}
