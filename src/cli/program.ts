import { Command, CommanderError } from 'commander'
import { ReelayError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { caCommand } from './ca.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { inspectCommand } from './inspect.ts'
import { listCommand } from './list.ts'
import { expectEarlyLeavers } from './print.ts'
import { recordCommand } from './record-help.ts'
import { replayCommand } from './replay/replay.ts'
import { verifyCommand } from './replay/verify.ts'
import { runCommand } from './run.ts'
import { serveCommand } from './serve.ts'
import { tailCommand } from './tail.ts'
import { unwrapCommand, wrapCommand } from './wrap.ts'

const COMMANDS = [
  recordCommand,
  caCommand,
  wrapCommand,
  unwrapCommand,
  doctorCommand,
  serveCommand,
  replayCommand,
  verifyCommand,
  runCommand,
  inspectCommand,
  tailCommand,
  listCommand,
  demoCommand,
]

/** Every command but the recording itself, which `main` takes care of. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  expectEarlyLeavers()
  const program = new Command('reelay')
    .description('record an MCP session to a tape, then play the server from it')
    .version(VERSION)
    .showSuggestionAfterError()
  for (const command of COMMANDS) program.addCommand(command)
  quietly(program)
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw misuse(error)
  }
}

/** Commander reports misuse to us instead of printing and exiting. */
function quietly(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} })
  command.commands.forEach(quietly)
}

function misuse(error: CommanderError): ReelayError {
  if (error.code === 'commander.help')
    return new ReelayError('USAGE', 'no command given', { hint: 'see reelay --help' })
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  return new ReelayError('USAGE', message, { hint: suggestion ?? 'see reelay --help', cause: error })
}
