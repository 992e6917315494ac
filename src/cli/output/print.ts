/** Writes a result to stdout. */
export function print(text: string): void {
  process.stdout.write(text)
}

/** Whoever reads our output may leave early, as in `| head`, and that is no fault; a full disk is one. */
export function ignoreClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') void reportWriteError(error)
  })
  process.stderr.on('error', () => {}) // there is nowhere left to say it
}

async function reportWriteError(error: Error): Promise<void> {
  const { reportError } = await import('./report-error.ts')
  reportError(error)
}
