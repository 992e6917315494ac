import { type ChildProcess, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { systemErrorCode } from '../../errors.ts'

/**
 * A server and the processes that it started: its process group, and on Linux also those that left the group. A process is
 * signalled only if it is known to descend from the server: it was seen as the child of such a process, and has not been
 * replaced by another process with the same number since.
 */
export class ProcessFamily {
  readonly #pid: number
  readonly #startedAt: string | undefined
  readonly #onFound: (pid: number, startedAt: string) => void
  /** The descendants outside of the group that were seen so far, with the times at which they started. */
  readonly #outside = new Map<number, string>()

  /** The server leads its group. `onFound` is called for each descendant that has left the group. */
  constructor(pid: number, onFound: (pid: number, startedAt: string) => void = () => {}) {
    this.#pid = pid
    this.#onFound = onFound
    this.#startedAt = readStat(pid)?.startedAt
  }

  /**
   * Looks for new descendants. A process that has left the session of the server cannot be found any more if its parent ended
   * before it was seen here.
   */
  look(): void {
    this.#lookFrom([])
  }

  /** Reads all processes of the machine only when the group of the server has ended. */
  isAlive(): boolean {
    this.look()
    if (isGroupAlive(this.#pid)) return true
    this.#lookFrom(this.#inSession())
    return this.#livingOutside().length > 0
  }

  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#lookFrom(this.#inSession())
    signalGroup(this.#pid, signal)
    for (const pid of this.#livingOutside()) signalProcess(pid, signal)
  }

  #lookFrom(others: readonly number[]): void {
    if (process.platform !== 'linux') return
    const seen = new Set<number>()
    const pending = [this.#pid, ...this.#outside.keys(), ...others]
    for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
      if (seen.has(pid) || !this.#isOurs(pid)) continue
      seen.add(pid)
      for (const child of childrenOf(pid)) {
        const stat = readStat(child)
        if (stat?.parent === pid) this.#add(child, stat)
        pending.push(child)
      }
    }
  }

  /** The processes in the session of the server, which all descend from it, even if their parents have ended. */
  #inSession(): readonly number[] {
    const server = readStat(this.#pid)
    if (process.platform !== 'linux' || (server !== undefined && server.startedAt !== this.#startedAt))
      return []
    const all = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
    return all.filter((pid) => {
      const stat = readStat(pid)
      if (stat?.session !== this.#pid) return false
      this.#add(pid, stat)
      return true
    })
  }

  #isOurs(pid: number): boolean {
    const startedAt = pid === this.#pid ? this.#startedAt : this.#outside.get(pid)
    const stat = readStat(pid)
    return startedAt === undefined ? stat?.group === this.#pid : stat?.startedAt === startedAt
  }

  #add(pid: number, { group, startedAt }: ProcessStat): void {
    if (group === this.#pid || this.#outside.get(pid) === startedAt) return
    this.#outside.set(pid, startedAt)
    this.#onFound(pid, startedAt)
  }

  #livingOutside(): readonly number[] {
    for (const [pid, startedAt] of this.#outside) {
      const stat = readStat(pid)
      if (stat?.startedAt !== startedAt || stat.isZombie) this.#outside.delete(pid)
    }
    return [...this.#outside.keys()]
  }
}

interface ProcessStat {
  readonly isZombie: boolean
  readonly parent: number
  readonly group: number
  readonly session: number
  /** In clock ticks since the machine was started. */
  readonly startedAt: string
}

/** Returns `undefined` if there is no such process, or no /proc. */
function readStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // the name before it may contain anything
    const [state, parent, group, session] = fields
    return {
      isZombie: state === 'Z',
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      startedAt: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}

/** Each thread has its own list of children. */
function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return [] // the process has ended, or the kernel has no such lists
  }
}

/** Whether any process of the group is still running. */
function isGroupAlive(pid: number): boolean {
  try {
    process.kill(killTarget(pid), 0)
    return true
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}

/** Sends a signal to a process that leads a group, and to the processes that it started, if they stayed in its group. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32')
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' })
  else signalProcess(killTarget(pid), signal)
}

/** Sends a signal to a child. Node sends it to our own group if the child could not be started because too many files are open. */
export function signalChild(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) child.kill(signal)
}

function signalProcess(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended since it was checked.
  }
}

function killTarget(pid: number): number {
  return process.platform === 'win32' ? pid : -pid
}
