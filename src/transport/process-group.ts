import { spawn, spawnSync } from 'node:child_process'

/** Whether any process of the server's group still runs. */
export function isGroupAlive(pid: number): boolean {
  try {
    process.kill(target(pid), 0)
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
    process.kill(target(pid), signal)
  } catch {
    // It ended between the look and the signal, which is what was wanted.
  }
}

function target(pid: number): number {
  return process.platform === 'win32' ? pid : -pid
}

/** A watcher that ends the server's group if this process dies without a chance to do so itself. */
export interface Guard {
  dismiss(): void
}

/**
 * A client may end us with SIGKILL, which would have ended the server had it been started directly. The guard is a shell
 * that waits on a pipe: when we are gone it gives the group the time to leave by itself, then SIGTERM, then SIGKILL.
 */
export function startGuard(pid: number): Guard {
  if (process.platform === 'win32') return { dismiss() {} }
  const guard = spawn('/bin/sh', ['-c', GUARD, 'reelay-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: {},
  })
  guard.on('error', () => {}) // no shell: then only this last safety is missing
  guard.stdin.on('error', () => {})
  guard.unref()
  return { dismiss: () => void guard.kill('SIGKILL') }
}

const GUARD = `
PATH=/usr/bin:/bin
read goodbye && exit 0
leave() {
  tries=$1
  while [ "$tries" -gt 0 ]; do
    kill -0 "-$group" 2>/dev/null || exit 0
    sleep 0.1
    tries=$((tries - 1))
  done
}
group=$1
leave 10
kill -TERM "-$group" 2>/dev/null
leave 15
kill -KILL "-$group" 2>/dev/null
`
