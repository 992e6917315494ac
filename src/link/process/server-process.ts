import { spawn, type ChildProcessByStdio, spawnSync } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ReelayError, systemErrorCode } from '../../errors.ts'
import { monotonicNow, sleep } from './monotonic-clock.ts'

/** How a process ended: exactly one of the two is set. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server that runs as a child process and leads its own process group. */
export interface ServerProcess {
  readonly command: readonly string[]
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Undefined if the command could not be started. */
  readonly pid: number | undefined
  /** Ends the group if this process is killed. */
  readonly guard: KillGuard
  /** Rejects with the system's error if the command could not be started. */
  readonly exited: Promise<ProcessExit>
}

interface StartServerOptions {
  readonly cwd?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** Signals of the user or the client that are meant for the server. */
export const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
]

/** Starts the server command with pipes. This file is loaded before the first spawn, so it must load very little. */
export async function startServer(
  command: readonly [string, ...string[]],
  { cwd, env }: StartServerOptions = {},
): Promise<ServerProcess> {
  const [file, ...args] = command
  const start = await loadSpawn()
  // The guard is started first, so that a server can be left behind only if we are killed between the next two calls.
  const guard = startKillGuard()
  // In its own group the server can be ended with its children, and Ctrl+C reaches it only once: through us.
  const detached = process.platform !== 'win32'
  const child = start(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached })
  if (child.pid === undefined) guard.dismiss()
  else guard.watch(child.pid)
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  exited.catch(() => {}) // a rejection that is awaited later must not end the process now
  return { command, child, pid: child.pid, guard, exited }
}

/** On Windows npx and similar commands are .cmd files, which Node does not start by itself. */
export async function loadSpawn(): Promise<typeof spawn> {
  if (process.platform !== 'win32') return spawn
  return (await import('cross-spawn')).default as unknown as typeof spawn
}

/** Ends the process group of a server if this process dies without ending it. */
interface KillGuard {
  /** Sets the group. */
  watch(pid: number): void
  dismiss(): void
}

/**
 * A client may end us with SIGKILL, which would have ended the server if the client had started it directly. The guard is a
 * shell that waits on a pipe. When we are gone, it gives the group time to exit, and then sends SIGTERM and SIGKILL.
 */
function startKillGuard(): KillGuard {
  if (process.platform === 'win32') return { watch() {}, dismiss() {} }
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'reelay-guard'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: {},
  })
  guard.on('error', () => {}) // without a shell, only this last safety net is missing
  // There is no pipe if the process may not open that many files.
  const input: Writable | undefined = guard.stdin
  input?.on('error', () => {})
  guard.unref()
  return {
    watch: (pid) => void input?.write(`${pid}\n`),
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

/** Explains why a server did not start. */
export async function serverStartError({ command, exited }: ServerProcess): Promise<ReelayError> {
  const cause = await exited.then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  )
  return commandStartError(`the server command ${command[0]}`, cause)
}

/** Explains why a command did not start. */
export function commandStartError(what: string, cause: NodeJS.ErrnoException | undefined): ReelayError {
  if (cause?.code === 'ENOENT')
    return new ReelayError('COMMAND_NOT_FOUND', `${what} was not found`, {
      hint: 'check the spelling and the PATH; relative paths start at the folder you are in',
      cause,
    })
  return new ReelayError('COMMAND_NOT_RUNNABLE', `${what} could not be started: ${cause?.message}`, {
    hint: 'try to run it by hand in the same folder',
    cause,
  })
}

interface EndServerOptions {
  readonly pid: number
  readonly exited: Promise<unknown>
  /** Whether the client is known to be gone. That it sends nothing more is not enough. */
  readonly isClientGone: () => boolean
  /** Whether the user is waiting. A busy server is then given little time to exit. */
  readonly isHurried?: boolean
  /** Whether the server still has to send responses that the client may read. */
  readonly isServerBusy?: () => Promise<boolean>
  /** The time of the server's last output, in the milliseconds of `monotonicNow()`. */
  readonly lastOutputAt?: () => number
  readonly onSignal?: (signal: NodeJS.Signals) => void
}

const POLL_MS = 100
const GRACE_MS = { gone: 1000, hurried: 200, quiet: 2000, busy: 300_000, afterTerm: 1500 } as const

/**
 * Ends a server whose input was closed. Most servers then exit by themselves. One that does not is sent SIGTERM and then
 * SIGKILL, together with the processes that it started. Input may also end because a pipe ran out while its client is still
 * reading, so a server that still has to send responses is given time to send them.
 */
export async function endServer(options: EndServerOptions): Promise<void> {
  await waitForVoluntaryExit(options)
  if (!isGroupAlive(options.pid)) return
  signalServer(options, 'SIGTERM')
  await waitForExit(options, GRACE_MS.afterTerm)
  if (isGroupAlive(options.pid)) signalServer(options, 'SIGKILL')
}

async function waitForVoluntaryExit(options: EndServerOptions): Promise<void> {
  const since = monotonicNow()
  while (isGroupAlive(options.pid) && !(await isGraceOver(options, since))) await waitForNextPoll(options)
}

async function isGraceOver(options: EndServerOptions, since: number): Promise<boolean> {
  const now = monotonicNow()
  if (options.isHurried === true) return now - since >= GRACE_MS.hurried
  if (options.isClientGone()) return now - since >= GRACE_MS.gone
  const silence = now - Math.max(since, options.lastOutputAt?.() ?? 0)
  if (silence < GRACE_MS.quiet) return false
  return silence >= GRACE_MS.busy || !(await options.isServerBusy?.())
}

async function waitForExit(options: EndServerOptions, limit: number): Promise<void> {
  const since = monotonicNow()
  while (isGroupAlive(options.pid) && monotonicNow() - since < limit) await waitForNextPoll(options)
}

/** The exit of the server is an event, but the exit of its children can only be polled. */
async function waitForNextPoll({ exited }: EndServerOptions): Promise<void> {
  await Promise.race([exited, sleep(POLL_MS)])
  await sleep(POLL_MS / 10)
}

function signalServer({ pid, onSignal }: EndServerOptions, signal: 'SIGTERM' | 'SIGKILL'): void {
  onSignal?.(signal)
  signalGroup(pid, signal)
}

/** Whether any process of the server's group is still running. */
function isGroupAlive(pid: number): boolean {
  try {
    process.kill(killTarget(pid), 0)
    return true
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}

/** Sends a signal to the server and to the processes that it started, if they stayed in its group. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' })
    return
  }
  try {
    process.kill(killTarget(pid), signal)
  } catch {
    // The group has ended since it was checked.
  }
}

function killTarget(pid: number): number {
  return process.platform === 'win32' ? pid : -pid
}
