import type { ErrorCode } from '../errors.ts'
import { cannotStart } from '../record/cannot-start.ts'
import { stdioHeader } from '../record/header.ts'
import { safeName, serverName } from '../record/server-name.ts'
import type { MethodFilter } from '../record/method-filter.ts'
import { relay } from '../record/relay.ts'
import { SessionTape } from '../record/session-tape.ts'
import { TapeLog, type Summary } from '../record/tape-log.ts'
import { resolveTape } from '../store/home.ts'
import { watchClient } from '../transport/client-gone.ts'
import type { Exit, ServerProcess } from '../transport/server-process.ts'
import { visible } from '../wire/visible.ts'
import type { RecordArgs } from './record-args.ts'

const MIB = 1024 * 1024

/** Records the server that `main` has already started, and ends as it ends. */
export async function record(args: RecordArgs, server: ServerProcess): Promise<void> {
  const { pid } = server
  if (pid === undefined) throw await cannotStart(server)
  const name = args.server ?? serverName(args.command)
  const log = openLog(args, name)
  announce(args, log)
  const filter = await filterFor(args)
  const tape = new SessionTape({
    log,
    server: name,
    maxLineBytes: args.maxLineMiB * MIB,
    ...(filter && { filter }),
  })
  const client = { input: process.stdin, output: process.stdout, errors, isGone: watchClient() }
  const exit = await relay({ server, pid, client, tape, signals: process })
  sumUp(args, await log.finish())
  endAs(exit)
}

function openLog(args: RecordArgs, server: string): TapeLog {
  const { command, tags, limits } = args
  return new TapeLog({
    limits,
    onTrouble: (why) => complain(`the tape stops here: ${why}; the session goes on`),
    path: args.output ?? resolveTape(args.name ?? datedName(server, new Date())),
    header: (started) => stdioHeader({ started, server, command, env: process.env, tags }),
  })
}

/** Loaded only when there is something to choose. */
async function filterFor({ only, skip }: RecordArgs): Promise<MethodFilter | undefined> {
  if (only.length + skip.length === 0) return undefined
  const filters = await import('../record/method-filter.ts')
  return new filters.MethodFilter({ only, skip })
}

function datedName(server: string, now: Date): string {
  return `${safeName(server)}-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`
}

function announce({ quiet }: RecordArgs, log: TapeLog): void {
  if (log.failure !== undefined) complain(`not recording: ${log.failure}; the session goes on without a tape`)
  else if (!quiet) say(`recording to ${log.path}`)
}

function sumUp({ quiet }: RecordArgs, { path, tapes, frames, loss, stoppedAt }: Summary): void {
  if (path === undefined) complain(`recorded nothing: ${loss?.why}`)
  else if (loss !== undefined) complain(`incomplete: ${loss.frames} frames are not on ${path}: ${loss.why}`)
  else if (!quiet) {
    const place = tapes === 1 ? path : `${tapes} tapes, the last one ${path}`
    const stop = stoppedAt === undefined ? '' : `, up to the limit of --${stoppedAt}; the session went on`
    say(`recorded ${frames} frames to ${place}${stop}`)
  }
}

/** In the words of `errors.ts`, but no error: the session goes on. */
function complain(text: string): void {
  say(`${'TAPE_UNWRITABLE' satisfies ErrorCode} ${text}`)
}

function say(text: string): void {
  errors().write(`reelay: ${visible(text)}\n`)
}

/** Our stderr; that nobody reads it must not end the session. */
function errors(): NodeJS.WriteStream {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}

/** Whoever started us sees what it would have seen of the server itself. */
function endAs({ code, signal }: Exit): void {
  if (signal === null) process.exit(code ?? 0)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  setTimeout(() => process.exit(1), 1000) // where a signal cannot end us, as on Windows
}
