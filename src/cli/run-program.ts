import { Command, CommanderError } from 'commander'
import { ReelayError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { ignoreClosedOutput } from './output/print.ts'

/** Runs the command that the arguments name, out of these. */
export async function runProgram(argv: readonly string[], commands: readonly Command[]): Promise<void> {
  ignoreClosedOutput()
  const program = new Command('reelay')
    .description('record what an MCP client and a server say to each other, then play either of them')
    .version(VERSION)
    .showSuggestionAfterError()
    .addHelpCommand(
      new Command('help').argument('[command]').description('show what a command takes').helpGroup('Learn:'),
    )
  for (const command of commands) program.addCommand(command)
  throwInsteadOfExit(program)
  try {
    rejectUnknownHelpTopic(program, argv)
    await program.parseAsync(argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw usageErrorFrom(error)
  }
}

/** Commander would show the help of everything. */
function rejectUnknownHelpTopic(program: Command, [, , verb, name]: readonly string[]): void {
  if (verb !== 'help' || name === undefined || name.startsWith('-')) return
  if (['help', ...program.commands.map((command) => command.name())].includes(name)) return
  throw new ReelayError('USAGE', `there is no command '${name}' to help with`, { hint: 'see reelay --help' })
}

/** Commander reports misuse to us instead of printing and exiting. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} })
  command.commands.forEach(throwInsteadOfExit)
}

function usageErrorFrom(error: CommanderError): ReelayError {
  if (error.code === 'commander.help')
    return new ReelayError('USAGE', 'no command given', { hint: 'see reelay --help' })
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  return new ReelayError('USAGE', message, { hint: suggestion ?? 'see reelay --help', cause: error })
}
