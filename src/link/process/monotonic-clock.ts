/**
 * The current time in milliseconds, of a clock that never goes back. `performance.now()` is not used, because Node loads
 * `performance` at first use, and a client waits for the recorder to start.
 */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** Resolves after a time. `node:timers/promises` is not used, because loading it takes time too. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds))
}
