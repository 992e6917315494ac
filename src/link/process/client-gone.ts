import { fstatSync, writeSync } from 'node:fs'

/** Whether the process that talks to us over stdin and stdout is known to be gone; that it closed our input proves nothing. */
export function clientGoneCheck(): () => boolean {
  const parent = process.ppid
  return () => process.ppid !== parent || process.stdout.destroyed || isPeerClosed(1)
}

/** Programs in Node hold sockets where others hold pipes. A socket answers a write of nothing with whether its other end is there. */
function isPeerClosed(fd: number): boolean {
  if (process.platform === 'win32') return false
  try {
    if (fstatSync(fd).isSocket()) writeSync(fd, NOTHING)
    return false
  } catch (error) {
    return ['EPIPE', 'ECONNRESET'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

const NOTHING = new Uint8Array(0)
