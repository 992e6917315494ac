/** Writes a result to stdout. Whoever reads it may leave early, as in `| head`, and that is no fault. */
export function print(text: string): void {
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  process.stdout.write(text)
}
