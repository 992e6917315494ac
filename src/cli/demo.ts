import { basename, relative } from 'node:path'
import { runDemo } from '../demo/run-demo.ts'
import type { CommandDefinition } from './command.ts'
import { abortOnSignals } from './signals.ts'

const TIMEOUT_MS = 30_000

export const demoCommand: CommandDefinition = {
  name: 'demo',
  help: 'Watch a session being recorded and served, without any configuration',
  options: {},
  run: async () => {
    const interrupted = abortOnSignals()
    const signal = AbortSignal.any([interrupted, AbortSignal.timeout(TIMEOUT_MS)])
    try {
      await runDemo({ reelay: commandName(), tell: (line) => process.stdout.write(`${line}\n`), signal })
    } catch (error) {
      if (!interrupted.aborted) throw error
      process.exitCode = interrupted.reason === 'SIGTERM' ? 143 : 130
    }
  },
}

/** What the user would type: the name of the installed program, or its file in a clone. */
function commandName(): string {
  const started = process.argv[1] ?? 'reelay'
  if (basename(started) !== 'main.js') return 'reelay'
  const near = relative(process.cwd(), started)
  return `node ${near.startsWith('..') ? started : near}`
}
