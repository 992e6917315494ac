import { fstatSync, writeSync } from 'node:fs'

/** Returns a function that checks whether the client on stdin and stdout is gone. That it closed our input does not prove this. */
export function clientGoneCheck(): () => boolean {
  const parent = process.ppid
  return () => process.ppid !== parent || process.stdout.destroyed || isPeerClosed(1)
}

/** Clients in Node connect us with sockets, others with pipes. Writing zero bytes to a socket fails if its other end is closed. */
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
