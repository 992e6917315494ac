import { moment, pause } from './moment.ts'
import { isGroupAlive, signalGroup } from './process-group.ts'

export interface EndingOptions {
  readonly pid: number
  readonly exited: Promise<unknown>
  /** Whether the client is known to be gone, and did not only stop talking. */
  readonly isClientGone: () => boolean
  /** Whether the user waits for the end: a server that is busy does not leave by itself. */
  readonly isHurried?: boolean
  /** Whether the server still owes answers that somebody may be reading. */
  readonly isServerBusy: () => Promise<boolean>
  /** When the server last said something, by `moment()`. */
  readonly lastHeard: () => number
  readonly onSignal: (signal: NodeJS.Signals) => void
}

const LOOK_EVERY = 100
const PATIENCE = { gone: 1000, hurried: 200, quiet: 2000, busy: 300_000, afterTerm: 1500 } as const

/**
 * Nobody will talk to the server any more, and it has been told so by the end of its input. Most leave by themselves.
 * One that stays is asked with SIGTERM and then ended with SIGKILL, with all that it started. Input that ended while its
 * client is still there may be a pipe that ran out, so a server that owes answers is left to give them.
 */
export async function endServer(options: EndingOptions): Promise<void> {
  await untilItLeaves(options)
  if (!isGroupAlive(options.pid)) return
  send(options, 'SIGTERM')
  await untilDeadOr(options, PATIENCE.afterTerm)
  if (isGroupAlive(options.pid)) send(options, 'SIGKILL')
}

async function untilItLeaves(options: EndingOptions): Promise<void> {
  const since = moment()
  while (isGroupAlive(options.pid) && !(await isPatienceOver(options, since))) await lookAgain(options)
}

async function isPatienceOver(options: EndingOptions, since: number): Promise<boolean> {
  const now = moment()
  if (options.isHurried === true) return now - since >= PATIENCE.hurried
  if (options.isClientGone()) return now - since >= PATIENCE.gone
  const silence = now - Math.max(since, options.lastHeard())
  if (silence < PATIENCE.quiet) return false
  return silence >= PATIENCE.busy || !(await options.isServerBusy())
}

async function untilDeadOr(options: EndingOptions, limit: number): Promise<void> {
  const since = moment()
  while (isGroupAlive(options.pid) && moment() - since < limit) await lookAgain(options)
}

/** The exit of the server itself is told to us; that of its children can only be looked for. */
async function lookAgain({ exited }: EndingOptions): Promise<void> {
  await Promise.race([exited, pause(LOOK_EVERY)])
  await pause(LOOK_EVERY / 10)
}

function send({ pid, onSignal }: EndingOptions, signal: 'SIGTERM' | 'SIGKILL'): void {
  onSignal(signal)
  signalGroup(pid, signal)
}
