import { signalChild } from './process-family.ts'
import { commandStartError, FORWARDED_SIGNALS, loadSpawn, type ProcessExit } from './server-process.ts'

/** Runs a command with our own stdin, stdout and stderr, and forwards signals to it. */
export async function runWithInheritedStdio(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<ProcessExit> {
  const [file, ...args] = command
  const start = await loadSpawn()
  const child = start(file, args, { env, stdio: 'inherit' })
  for (const signal of FORWARDED_SIGNALS) {
    process.on(signal, () => {
      if (!isFromTerminal(signal)) signalChild(child, signal)
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(commandStartError(`the command ${file}`, error)))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** A signal from the terminal reaches the child anyway. Many programs take a second one as "exit without cleaning up". */
function isFromTerminal(signal: NodeJS.Signals): boolean {
  return process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT')
}
