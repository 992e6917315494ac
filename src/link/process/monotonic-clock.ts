/**
 * Now, in milliseconds of a clock that never goes back. `performance` would do, but Node loads it at first use, and a client
 * waits for the recorder to start.
 */
export function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** Resolves after so many milliseconds; for the same reason this is not the one of `node:timers/promises`. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds))
}
