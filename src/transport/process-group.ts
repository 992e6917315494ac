import { spawnSync } from 'node:child_process'

/** Whether any process of the server's group still runs. */
export function isGroupAlive(pid: number): boolean {
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
