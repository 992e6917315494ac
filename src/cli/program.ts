import { Command } from 'commander'
import { caCommand } from './ca.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand } from './import.ts'
import { inspectCommand } from './inspect.ts'
import { listCommand } from './list.ts'
import { matchCommand } from './match.ts'
import { RECORD_OPTIONS } from './options/record-options.ts'
import { redactCommand } from './redact.ts'
import { replayCommand } from './replay/replay.ts'
import { verifyCommand } from './replay/verify.ts'
import { runCommand } from './run.ts'
import { serveCommand } from './serve/serve.ts'
import { shareCommand } from './share.ts'
import { statsCommand } from './stats.ts'
import { tailCommand } from './tail.ts'
import { unwrapCommand, wrapCommand } from './wrap.ts'

/** The help page of `record`; `main` runs the command itself, before commander is loaded. */
export const recordCommand: Command = new Command('record')
  .description('stand between a client and a server and make a tape')
  .usage(
    '[options] [<name>] -- <server command…>\n' +
      '       reelay record [options] --url <url> [<name>]\n' +
      '       reelay record [options] --bridge --url <url> [<name>]\n' +
      '       reelay record [options] --forward [<name>] [-- <client command…>]',
  )
  .addHelpText(
    'after',
    '\nWithout -o or a name, the tape gets a dated name. Names live in $REELAY_HOME/tapes.',
  )

for (const { short, long, value, about } of RECORD_OPTIONS) {
  const flags = [short, long].filter((flag) => flag !== undefined).join(', ')
  recordCommand.option(value === undefined ? flags : `${flags} <${value}>`, about)
}

/** Every command, as `reelay --help` groups them; of `record` only the help, because `main` takes care of the recording itself. */
export const COMMANDS: readonly Command[] = [
  ...group('Record:', recordCommand, runCommand, wrapCommand, unwrapCommand, doctorCommand, caCommand),
  ...group('Look:', inspectCommand, statsCommand, tailCommand, listCommand),
  ...group('Play the server:', serveCommand, matchCommand),
  ...group('Play the client:', replayCommand, verifyCommand),
  ...group('Make other tapes:', redactCommand, shareCommand, importCommand),
  ...group('Learn:', demoCommand),
]

function group(heading: string, ...commands: readonly Command[]): readonly Command[] {
  return commands.map((command) => command.helpGroup(heading))
}
