/** Waits for whoever wants us to end. */
export function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    if (process.platform !== 'win32') process.once('SIGHUP', resolve)
  })
}
