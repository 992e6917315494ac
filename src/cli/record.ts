import { cannotStart } from '../record/cannot-start.ts'
import { serverName, stdioHeader } from '../record/header.ts'
import { relay } from '../record/relay.ts'
import { SessionTape } from '../record/session-tape.ts'
import { TapeLog } from '../record/tape-log.ts'
import type { ServerProcess } from '../transport/server-process.ts'
import { endAs } from './end-as.ts'
import type { CommandArgs } from './record-args.ts'
import { announce, errors, sumUp, tapePath } from './record-talk.ts'

const MIB = 1024 * 1024

/** Records the server that `main` has already started, and ends as it ends. */
export async function record(args: CommandArgs, server: ServerProcess): Promise<void> {
  const { pid } = server
  if (pid === undefined) throw await cannotStart(server)
  const name = args.server ?? serverName(args.command)
  const log = openLog(args, name)
  announce(args, { path: log.path, failure: log.failure })
  const tape = new SessionTape({ log, server: name, maxLineBytes: args.maxLineMiB * MIB })
  const parent = process.ppid
  const isGone = (): boolean => process.ppid !== parent || process.stdout.destroyed
  const client = { input: process.stdin, output: process.stdout, errors, isGone }
  const exit = await relay({ server, pid, client, tape, signals: process })
  sumUp(args, await log.finish())
  endAs(exit)
}

function openLog(args: CommandArgs, server: string): TapeLog {
  const { command, tags } = args
  return new TapeLog({
    path: tapePath(args, server),
    header: (started) => stdioHeader({ started, server, command, env: process.env, tags }),
  })
}
