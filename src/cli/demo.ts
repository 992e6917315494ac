import { basename, relative } from 'node:path'
import { runDemo } from '../demo/run-demo.ts'
import { runDemoServer } from '../demo/server.ts'
import { defineCommand, type CommandDefinition } from './command.ts'
import { switchOn } from './options/option-types.ts'
import { option } from './options/option.ts'
import { printText } from './output/print.ts'
import { isOnPath, reelayCommand } from './reelay-command.ts'
import { abortOnSignals } from './signals.ts'

const TIMEOUT_MS = 30_000

export const demoCommand: CommandDefinition = defineCommand<{ readonly server: true | undefined }>({
  name: 'demo',
  options: {
    server: option('--server', switchOn, 'Run only the MCP server of the demo, on stdin and stdout'),
  },
  run: async (_, { server }) => (server === true ? runDemoServer() : showDemo()),
})

async function showDemo(): Promise<void> {
  const interrupted = abortOnSignals()
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(TIMEOUT_MS)])
  try {
    await runDemo({ reelay: commandName(), program: reelayCommand(), tell: printLine, signal })
    if (basename(process.argv[1] ?? '') === 'reelay' && !isOnPath())
      printLine(
        '`reelay` is not on your PATH yet: npm install --global, with the package that you gave to npx',
      )
  } catch (error) {
    if (!interrupted.aborted) throw error
    process.exitCode = interrupted.reason === 'SIGTERM' ? 143 : 130
  }
}

/** What the user would type: the name of the installed program, or its file in a clone. */
function commandName(): string {
  const started = process.argv[1] ?? 'reelay'
  if (basename(started) !== 'main.js') return 'reelay'
  const near = relative(process.cwd(), started)
  return `node ${near.startsWith('..') ? started : near}`
}

function printLine(line: string): void {
  printText(`${line}\n`)
}
