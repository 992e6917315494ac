import { caCommand } from './ca.ts'
import type { CommandDefinition, CommandGroups } from './command.ts'
import { completionCommand } from './completion.ts'
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
import { trustCommand } from './trust.ts'
import { unwrapCommand, wrapCommand } from './wrap.ts'

/** Only the help of `record`: `main` runs the command before commander is loaded. */
const recordCommand: CommandDefinition = {
  name: 'record',
  help: 'Record a session between an MCP client and a server to a tape',
  usage:
    '[options] [<name>] -- <server command…>\n' +
    '       reelay record [options] --url <url> [<name>]\n' +
    '       reelay record [options] --bridge --url <url> [<name>]\n' +
    '       reelay record [options] --forward [<name>] [-- <client command…>]',
  options: RECORD_OPTIONS,
  common: ['url', 'forward', 'header', 'output', 'server', 'redact', 'tail', 'quiet'],
  notes:
    'Without -o or a name, the tape is named after the server and the time.\nNamed tapes are in $REELAY_HOME/tapes.',
}

/** Every command, by the headings of `reelay --help`. */
export const COMMANDS: CommandGroups = {
  Record: [recordCommand, runCommand, wrapCommand, unwrapCommand, doctorCommand, caCommand, trustCommand],
  Inspect: [inspectCommand, statsCommand, tailCommand, listCommand],
  Serve: [serveCommand, matchCommand],
  Replay: [replayCommand, verifyCommand],
  'Share and import': [redactCommand, shareCommand, importCommand],
  'Get started': [demoCommand, completionCommand(() => COMMANDS)],
}
