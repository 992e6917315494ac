import { spawn } from 'node:child_process'
import { ReelayError } from '../../errors.ts'
import { FORWARDED_SIGNALS, type ProcessExit } from './start.ts'

/** Runs a command with our own stdin, stdout and stderr; signals that we get are passed on. */
export async function runWithInheritedStdio(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<ProcessExit> {
  const [file, ...args] = command
  // On Windows, npx and its like are .cmd files, which Node refuses to start by itself.
  const start =
    process.platform === 'win32' ? ((await import('cross-spawn')).default as unknown as typeof spawn) : spawn
  const child = start(file, args, { env, stdio: 'inherit' })
  for (const signal of FORWARDED_SIGNALS) {
    process.on(signal, () => {
      if (!isFromTerminal(signal)) child.kill(signal)
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(commandStartError(file, error)))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** What is typed at a terminal reaches the child too: twice would mean "now, without cleaning up" to many programs. */
function isFromTerminal(signal: NodeJS.Signals): boolean {
  return process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT')
}

function commandStartError(file: string, cause: NodeJS.ErrnoException): ReelayError {
  if (cause.code === 'ENOENT')
    return new ReelayError('COMMAND_NOT_FOUND', `the command ${file} was not found`, {
      hint: 'check the spelling and the PATH',
      cause,
    })
  return new ReelayError(
    'COMMAND_NOT_RUNNABLE',
    `the command ${file} could not be started: ${cause.message}`,
    {
      hint: 'try to run it by hand in the same folder',
      cause,
    },
  )
}
