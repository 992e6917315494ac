import { spawn } from 'node:child_process'
import { ReelayError } from '../errors.ts'
import { PASSED_ON, type Exit } from './server-process.ts'

/** Runs a command on our own stdio, hands it our signals, and tells how it ended. */
export async function runClient(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<Exit> {
  const [file, ...args] = command
  // On Windows, npx and its like are .cmd files, which Node refuses to start by itself.
  const start =
    process.platform === 'win32' ? ((await import('cross-spawn')).default as unknown as typeof spawn) : spawn
  const child = start(file, args, { env, stdio: 'inherit' })
  for (const signal of PASSED_ON) process.on(signal, () => isFromTerminal(signal) || child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) => reject(cannotStart(file, cause)))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** A terminal sends these to the command itself; a second one would end programs that ask before they leave. */
function isFromTerminal(signal: NodeJS.Signals): boolean {
  return (signal === 'SIGINT' || signal === 'SIGQUIT') && process.stdin.isTTY
}

function cannotStart(file: string, cause: NodeJS.ErrnoException): ReelayError {
  if (cause.code === 'ENOENT')
    return new ReelayError('COMMAND_NOT_FOUND', `the client command ${file} was not found`, {
      hint: 'check the spelling and the PATH; relative paths start at the folder you are in',
      cause,
    })
  return new ReelayError(
    'COMMAND_NOT_RUNNABLE',
    `the client command ${file} could not be started: ${cause.message}`,
    { hint: 'try to run it by hand in the same folder', cause },
  )
}
