import { spawnSync } from 'node:child_process'
import { monotonicNow, sleep } from './monotonic-clock.ts'

interface EndServerOptions {
  readonly pid: number
  readonly exited: Promise<unknown>
  /** Whether the client is known to be gone, and did not only stop talking. */
  readonly isClientGone: () => boolean
  /** Whether the user waits for the end: a server that is busy does not leave by itself. */
  readonly isHurried?: boolean
  /** Whether the server still owes answers that somebody may be reading. */
  readonly isServerBusy: () => Promise<boolean>
  /** When the server last said something, by `moment()`. */
  readonly lastOutputAt: () => number
  readonly onSignal: (signal: NodeJS.Signals) => void
}

const POLL_MS = 100
const GRACE_MS = { gone: 1000, hurried: 200, quiet: 2000, busy: 300_000, afterTerm: 1500 } as const

/**
 * Nobody will talk to the server any more, and it has been told so by the end of its input. Most leave by themselves.
 * One that stays is asked with SIGTERM and then ended with SIGKILL, with all that it started. Input that ended while its
 * client is still there may be a pipe that ran out, so a server that owes answers is left to give them.
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
  const silence = now - Math.max(since, options.lastOutputAt())
  if (silence < GRACE_MS.quiet) return false
  return silence >= GRACE_MS.busy || !(await options.isServerBusy())
}

async function waitForExit(options: EndServerOptions, limit: number): Promise<void> {
  const since = monotonicNow()
  while (isGroupAlive(options.pid) && monotonicNow() - since < limit) await waitForNextPoll(options)
}

/** The exit of the server itself is told to us; that of its children can only be looked for. */
async function waitForNextPoll({ exited }: EndServerOptions): Promise<void> {
  await Promise.race([exited, sleep(POLL_MS)])
  await sleep(POLL_MS / 10)
}

function signalServer({ pid, onSignal }: EndServerOptions, signal: 'SIGTERM' | 'SIGKILL'): void {
  onSignal(signal)
  signalGroup(pid, signal)
}

/** Whether any process of the server's group still runs. */
function isGroupAlive(pid: number): boolean {
  try {
    process.kill(killTarget(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Sends a signal to the server and to every process it started that stayed in its group. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' })
    return
  }
  try {
    process.kill(killTarget(pid), signal)
  } catch {
    // It ended between the look and the signal, which is what was wanted.
  }
}

function killTarget(pid: number): number {
  return process.platform === 'win32' ? pid : -pid
}
