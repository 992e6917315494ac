import type { Command } from 'commander'
import { caCommand } from './ca.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand } from './import.ts'
import { inspectCommand } from './inspect.ts'
import { listCommand } from './list.ts'
import { matchCommand } from './match.ts'
import { redactCommand } from './redact.ts'
import { recordCommand } from './program.ts'
import { replayCommand } from './replay/replay.ts'
import { verifyCommand } from './replay/verify.ts'
import { runCommand } from './run.ts'
import { serveCommand } from './serve/serve.ts'
import { shareCommand } from './share.ts'
import { statsCommand } from './stats.ts'
import { tailCommand } from './tail.ts'
import { unwrapCommand, wrapCommand } from './wrap.ts'

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
