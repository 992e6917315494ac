import { cannotStart } from '../transport/cannot-start.ts'
import { stdioHeader } from '../record/header.ts'
import type { MessageLook } from '../record/message-look.ts'
import { redactionFor, type Redaction } from '../record/redaction.ts'
import { relay } from '../record/relay.ts'
import { serverName } from '../record/server-name.ts'
import { SessionTape } from '../record/session-tape.ts'
import { TapeLog } from '../record/tape-log.ts'
import { watchClient } from '../transport/client-gone.ts'
import type { ServerProcess } from '../transport/server-process.ts'
import { endAs } from './end-as.ts'
import type { CommandArgs } from './record-args.ts'
import { announce, complain, errors, say, sumUp, tapePath } from './record-talk.ts'
import { vaultFor } from '../record/vault-for.ts'
import { TailProcess } from './tail-process.ts'

const MIB = 1024 * 1024

/** Records the server that `main` has already started, and ends as it ends. */
export async function record(args: CommandArgs, server: ServerProcess): Promise<void> {
  const { pid } = server
  if (pid === undefined) throw await cannotStart(server)
  const name = args.server ?? serverName(args.command)
  const view = args.tail ? new TailProcess() : undefined
  const redaction = openRedaction(args)
  const log = openLog(args, name, { ...redaction, view })
  announce(args, { path: log.path, failure: log.failure, keyTrouble: redaction.trouble })
  const look = await lookFor(args, log)
  const maxLineBytes = args.maxLineMiB * MIB
  const { cutBytes } = args.rules
  const tape = new SessionTape({ log, server: name, maxLineBytes, cutBytes, ...(look && { look }) })
  const client = { input: process.stdin, output: process.stdout, errors, isGone: watchClient() }
  const exit = await relay({ server, pid, client, tape, signals: process })
  const summary = await log.finish()
  await view?.end()
  sumUp(args, summary)
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

function openLog(
  args: CommandArgs,
  server: string,
  { redactor, refusal, view }: OpenedRedaction & { readonly view: TailProcess | undefined },
): TapeLog {
  const { command, labels, rules } = args
  const path = tapePath(args, server)
  return new TapeLog({
    path,
    header: (started) => stdioHeader({ started, server, command, env: process.env, labels }),
    ...(rules.limits && { limits: rules.limits }),
    redactor,
    vault: vaultFor(args.redact, path),
    refusal,
    onTape: view?.follow,
    onTrouble: (why) => complain(`the tape stops here: ${why}; the session goes on`),
  })
}

/** Loaded only when there is something to look for. */
async function lookFor({ rules }: CommandArgs, log: TapeLog): Promise<MessageLook | undefined> {
  const { only = [], skip = [], pendingMs } = rules
  if (only.length + skip.length === 0 && pendingMs === undefined) return undefined
  const looks = await import('../record/message-look.ts')
  return looks.lookFor({ ...rules, onPending: say }, log)
}
