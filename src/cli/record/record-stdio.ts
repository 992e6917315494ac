import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { errorMessage, ReelayError, systemErrorCode } from '../../errors.ts'
import { signalChild } from '../../link/process/process-family.ts'
import {
  FORWARDED_SIGNALS,
  serverStartError,
  startServer,
  type ServerProcess,
} from '../../link/process/server-process.ts'
import { serverName, stdioServer } from '../../record/tape-header.ts'
import type { MessageFilter } from '../../record/message-filter.ts'
import { openRedaction, type RecordingRedaction } from '../../record/redaction.ts'
import { relay } from '../../record/stdio/relay.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { StdioRecorder } from '../../record/stdio/stdio-recorder.ts'
import { TapeLog } from '../../record/tape-log.ts'
import { clientGoneCheck } from '../../link/process/client-gone.ts'
import { isTapePath } from '../../store/home.ts'
import { quoteShellWord } from '../../text.ts'
import { exitLike } from '../signals.ts'
import { unknownOption, type RecordCommandArgs } from '../options/record-options.ts'
import { clientEntry } from '../reelay-command.ts'
import {
  announceRecording,
  printTapeProblem,
  stderrStream,
  printClientConfig,
  printNotice,
  printRecordingSummary,
  recordingPath,
  recordingView,
  type TailProcess,
} from './record-output.ts'

/** Starts the server before anything else is loaded, and records it. */
export async function startServerAndRecord(args: RecordCommandArgs): Promise<void> {
  const server = await startServer(args.command)
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => signalChild(server.child, signal))
  try {
    await runStdioRecording(args, server)
  } catch (error) {
    server.family?.signal('SIGKILL') // an error of the recorder must not leave an orphaned server
    throw asMissingDashes(error, args.command)
  }
}

/** In `reelay record my-tape node server.js`, the name of the tape is taken for the command. */
function asMissingDashes(error: unknown, [name = '', ...command]: readonly string[]): unknown {
  if (!(error instanceof ReelayError) || error.code !== 'COMMAND_NOT_FOUND') return error
  if (command.length === 0 || isTapePath(name)) return error
  const [second = ''] = command
  const dashes = command.indexOf('--')
  if (dashes >= 0 && second.startsWith('-')) return unknownOption(second)
  if (dashes > 0) return severalNames([name, ...command.slice(0, dashes)], command.slice(dashes + 1))
  if (process.argv.includes('--')) return error
  if (/^https?:\/\//.test(second))
    return new ReelayError('COMMAND_NOT_FOUND', error.message, {
      hint: `for a server over HTTP: reelay record ${name} --url ${second}`,
      cause: error,
    })
  const server = command[0]?.startsWith('-') ? '<server command>' : command.map(quoteShellWord).join(' ')
  const hint = `if ${name} is the name of the tape, put -- before the server command: reelay record ${name} -- ${server}`
  return new ReelayError('COMMAND_NOT_FOUND', error.message, { hint, cause: error })
}

function severalNames(names: readonly string[], server: readonly string[]): ReelayError {
  return new ReelayError('USAGE', `the name of the tape is one word, not ${names.join(' ')}`, {
    hint: `for example: reelay record ${names.join('-')} -- ${server.map(quoteShellWord).join(' ')}`,
  })
}

/** Records a server that was started, and ends as it ends. */
async function runStdioRecording(args: RecordCommandArgs, server: ServerProcess): Promise<void> {
  const { family } = server
  if (family === undefined) return runUnrecorded(args, server)
  const name = args.server ?? serverName(args.command)
  const view = recordingView(args)
  const path = recordingPath(args, name)
  const redaction = redactionOrRefusal(args, path)
  const log = openTapeLog(args, name, { ...redaction, path, view })
  announceRecording(args, { path: log.path, failure: log.failure, keyTrouble: redaction.trouble })
  if (log.failure === undefined && !args.quiet && redaction.redactor !== undefined)
    setImmediate(printRecorderConfig, args, name, redaction.redactor) // the client waits for its first message
  const filter = await loadMessageFilter(args, log)
  const interception = args.intercept && (await import('./intercept.ts')).prepareInterception(args)
  await interception?.listen(log.path)
  const { maxLineBytes, rules } = args
  const recorder = new StdioRecorder({
    log,
    server: name,
    maxLineBytes,
    cutBytes: rules.cutBytes,
    filter,
    interceptor: args.interceptor ?? interception?.interceptor,
  })
  const client = {
    input: process.stdin,
    output: process.stdout,
    errors: stderrStream,
    isGone: clientGoneCheck(),
  }
  const exit = await relay({ server: { ...server, family }, client, recorder, signals: process })
  interception?.close()
  const summary = await log.finish()
  await view?.end()
  printRecordingSummary(args, summary)
  if (args.learn !== undefined && summary.path !== undefined) await learnFrom(summary.path, args)
  exitLike(exit)
}

/** A client starts the recorder again and again, and each session needs its own tape. */
function printRecorderConfig(args: RecordCommandArgs, server: string, redactor: Redactor): void {
  const ifExists = args.ifExists === 'refuse' ? ['--numbered'] : []
  const words = redactor.command(process.argv.slice(3))
  printClientConfig(args, server, clientEntry([process.argv[2] ?? 'record', ...ifExists, ...words]))
}

/** If this process may not open enough files for pipes, the server gets our stdin and stdout, and the session is not recorded. */
async function runUnrecorded({ command }: RecordCommandArgs, server: ServerProcess): Promise<void> {
  const error: unknown = await server.exited.catch((cause: unknown) => cause)
  if (!TOO_MANY_FILES.includes(systemErrorCode(error))) throw await serverStartError(server)
  printTapeProblem(`not recording: ${errorMessage(error)}; the session goes on without a tape`)
  const { runWithInheritedStdio } = await import('../../link/process/run-inherited.ts')
  exitLike(await runWithInheritedStdio(command, process.env))
}

const TOO_MANY_FILES: readonly unknown[] = ['EMFILE', 'ENFILE']

/**
 * Runs `reelay learn` on the new tape. It is a separate process group, because most clients end the recorder a few seconds after
 * they have closed its input. Ctrl+C ends both.
 */
async function learnFrom(tape: string, { learn, command, quiet }: RecordCommandArgs): Promise<void> {
  const [node, program = ''] = [process.execPath, process.argv[1]]
  if (!quiet) printNotice(`learning noise: the server is started ${learn} more times`)
  const child = spawn(node, [program, 'learn', tape, '--runs', String(learn), '--', ...command], {
    stdio: ['ignore', quiet ? 'ignore' : 2, 2],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const stop = (): void => signalChild(child, 'SIGTERM')
  process.once('SIGINT', stop)
  await once(child, 'close').catch(() => {}) // the recording is complete, with or without a profile
  process.off('SIGINT', stop)
}

type RedactionOrRefusal = Partial<RecordingRedaction> & { readonly refusal?: string }

/** The server is already running, so invalid rules do not end it: the session goes on without a tape. */
function redactionOrRefusal({ redact }: RecordCommandArgs, tape: string): RedactionOrRefusal {
  try {
    return openRedaction(redact, { tape })
  } catch (error) {
    if (error instanceof ReelayError && error.code === 'CONFIG_NOT_TRUSTED')
      return { refusal: `${error.message} (${error.hint})` }
    return { refusal: errorMessage(error) }
  }
}

function openTapeLog(
  args: RecordCommandArgs,
  server: string,
  {
    path,
    redactor,
    vault,
    refusal,
    view,
  }: RedactionOrRefusal & { readonly path: string; readonly view: TailProcess | undefined },
): TapeLog {
  const { command, labels, rules } = args
  return new TapeLog({
    continuesProbe: true,
    path,
    servers: () => ({ [server]: stdioServer(command, process.env) }),
    labels,
    limits: rules.limits,
    redactor,
    vault,
    refusal,
    onTape: view?.follow,
    onTrouble: printTapeProblem,
  })
}

/** Loaded on demand. */
async function loadMessageFilter(
  { rules }: RecordCommandArgs,
  log: TapeLog,
): Promise<MessageFilter | undefined> {
  const { only = [], skip = [], pendingMs } = rules
  if (only.length + skip.length === 0 && pendingMs === undefined) return undefined
  const { messageFilterFor } = await import('../../record/message-filter.ts')
  return messageFilterFor({ ...rules, onPending: printNotice }, log)
}
