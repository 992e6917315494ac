import { cannotStart } from '../record/cannot-start.ts'
import { stdioHeader } from '../record/header.ts'
import type { MethodFilter } from '../record/method-filter.ts'
import { redactionFor, type Redaction } from '../record/redaction.ts'
import { relay } from '../record/relay.ts'
import { serverName } from '../record/server-name.ts'
import { SessionTape } from '../record/session-tape.ts'
import { TapeLog } from '../record/tape-log.ts'
import { watchClient } from '../transport/client-gone.ts'
import type { ServerProcess } from '../transport/server-process.ts'
import { endAs } from './end-as.ts'
import type { CommandArgs } from './record-args.ts'
import { announce, complain, errors, sumUp, tapePath } from './record-talk.ts'

const MIB = 1024 * 1024

/** Records the server that `main` has already started, and ends as it ends. */
export async function record(args: CommandArgs, server: ServerProcess): Promise<void> {
  const { pid } = server
  if (pid === undefined) throw await cannotStart(server)
  const name = args.server ?? serverName(args.command)
  const redaction = openRedaction(args)
  const log = openLog(args, name, redaction)
  announce(args, { path: log.path, failure: log.failure, keyTrouble: redaction.trouble })
  const filter = await filterFor(args)
  const maxLineBytes = args.maxLineMiB * MIB
  const tape = new SessionTape({ log, server: name, maxLineBytes, ...(filter && { filter }) })
  const client = { input: process.stdin, output: process.stdout, errors, isGone: watchClient() }
  const exit = await relay({ server, pid, client, tape, signals: process })
  sumUp(args, await log.finish())
  endAs(exit)
}

type OpenedRedaction = Partial<Redaction> & { readonly refusal?: string }

/** The server runs already, and is not to be ended for want of a rule: without its rules, nothing is taped. */
function openRedaction({ redact }: CommandArgs): OpenedRedaction {
  try {
    return redactionFor(redact) ?? {}
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) }
  }
}

function openLog(args: CommandArgs, server: string, { redactor, refusal }: OpenedRedaction): TapeLog {
  const { command, tags, limits } = args
  return new TapeLog({
    path: tapePath(args, server),
    header: (started) => stdioHeader({ started, server, command, env: process.env, tags }),
    limits,
    redactor,
    refusal,
    onTrouble: (why) => complain(`the tape stops here: ${why}; the session goes on`),
  })
}

/** Loaded only when there is something to choose. */
async function filterFor({ only, skip }: CommandArgs): Promise<MethodFilter | undefined> {
  if (only.length + skip.length === 0) return undefined
  const filters = await import('../record/method-filter.ts')
  return new filters.MethodFilter({ only, skip })
}
