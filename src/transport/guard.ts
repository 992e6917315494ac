import { spawn } from 'node:child_process'

/** A watcher that ends a server's group if this process dies without a chance to do so itself. */
export interface KillGuard {
  /** Tells it which group. */
  watch(pid: number): void
  dismiss(): void
}

/**
 * A client may end us with SIGKILL, which would have ended the server had it been started directly. The guard is a shell
 * that waits on a pipe: when we are gone it gives the group the time to leave by itself, then SIGTERM, then SIGKILL.
 */
export function startKillGuard(): KillGuard {
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
