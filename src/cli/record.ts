import type { ErrorCode } from '../errors.ts'
import { cannotStart } from '../record/cannot-start.ts'
import { serverName, stdioHeader } from '../record/header.ts'
import { relay } from '../record/relay.ts'
import { SessionTape } from '../record/session-tape.ts'
import { TapeLog, type Summary } from '../record/tape-log.ts'
import { resolveTape } from '../store/home.ts'
import type { ServerProcess } from '../transport/server-process.ts'
import { endAs } from './end-as.ts'
import type { RecordArgs } from './record-args.ts'

const MIB = 1024 * 1024

/** Records the server that `main` has already started, and ends as it ends. */
export async function record(args: RecordArgs, server: ServerProcess): Promise<void> {
  const { pid } = server
  if (pid === undefined) throw await cannotStart(server)
  const name = args.server ?? serverName(args.command)
  const log = openLog(args, name)
  announce(args, log)
  const tape = new SessionTape({ log, server: name, maxLineBytes: args.maxLineMiB * MIB })
  const parent = process.ppid
  const isGone = (): boolean => process.ppid !== parent || process.stdout.destroyed
  const client = { input: process.stdin, output: process.stdout, errors, isGone }
  const exit = await relay({ server, pid, client, tape, signals: process })
  sumUp(args, await log.finish())
  endAs(exit)
}

function openLog(args: RecordArgs, server: string): TapeLog {
  const { command, tags } = args
  return new TapeLog({
    path: args.output ?? resolveTape(args.name ?? datedName(server, new Date())),
    header: (started) => stdioHeader({ started, server, command, env: process.env, tags }),
  })
}

function datedName(server: string, now: Date): string {
  return `${server}-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`
}

function announce({ quiet }: RecordArgs, log: TapeLog): void {
  if (log.failure !== undefined) complain(`not recording: ${log.failure}; the session goes on without a tape`)
  else if (!quiet) say(`recording to ${log.path}`)
}

function sumUp({ quiet }: RecordArgs, { path, frames, loss }: Summary): void {
  if (path === undefined) complain(`recorded nothing: ${loss?.why}`)
  else if (loss !== undefined) complain(`incomplete: ${loss.frames} frames are not on ${path}: ${loss.why}`)
  else if (!quiet) say(`recorded ${frames} frames to ${path}`)
}

/** In the words of `errors.ts`, but no error: the session goes on. */
function complain(text: string): void {
  say(`${'TAPE_UNWRITABLE' satisfies ErrorCode} ${text}`)
}

function say(text: string): void {
  errors().write(`reelay: ${text}\n`)
}

/** Our stderr; that nobody reads it must not end the session. */
function errors(): NodeJS.WriteStream {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}
