import { basename, relative } from 'node:path'
import { Command } from 'commander'
import { runDemo } from '../demo/run-demo.ts'

const TIMEOUT_MS = 30_000

export const demoCommand: Command = new Command('demo')
  .description('see a session recorded and played back, with nothing to configure')
  .action(async () => {
    const interrupted = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort(signal))
    const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(TIMEOUT_MS)])
    try {
      await runDemo({ reelay: commandName(), tell: (line) => process.stdout.write(`${line}\n`), signal })
    } catch (error) {
      if (!interrupted.signal.aborted) throw error
      process.exitCode = interrupted.signal.reason === 'SIGTERM' ? 143 : 130
    }
  })

/** What the user would type: the installed program's name, or the file in a clone. */
function commandName(): string {
  const started = process.argv[1] ?? 'reelay'
  if (basename(started) !== 'main.js') return 'reelay'
  const near = relative(process.cwd(), started)
  return `node ${near.startsWith('..') ? started : near}`
}
