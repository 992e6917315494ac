import type { Readable, Writable } from 'node:stream'
import { ReelayError } from '../../errors.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { startServer, type ProcessExit, serverStartError } from '../../link/process/start.ts'
import { stdioHeader } from '../tape-header.ts'
import { pickLabels, type TapeLabelOptions } from '../../tape/header.ts'
import { openRedaction, type RecordingRedaction, type RedactOption } from '../redaction.ts'
import { relay } from './relay.ts'
import { serverName } from '../server-name.ts'
import { StdioRecorder } from './stdio-recorder.ts'
import { type RecordingSummary, TapeLog } from '../tape-log.ts'

export interface RecorderOptions extends TapeLabelOptions {
  /** The server command and its arguments. */
  readonly command: readonly [string, ...string[]]
  /** The tape file. An existing one is never overwritten. */
  readonly tape: string
  /** The client's side of the link. */
  readonly client: { readonly input: Readable; readonly output: Writable; readonly errors?: Writable }
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The name of the server on the tape; by default it comes from the command. */
  readonly server?: string
  /** How secrets are treated; by default they are replaced by placeholders. */
  readonly redact?: RedactOption
  readonly onClientMessage?: (text: string) => void
  readonly onServerMessage?: (text: string) => void
}

export interface RecordingResult extends RecordingSummary {
  readonly exit: ProcessExit
}

/**
 * Records one session after the other over streams of the caller.
 *
 * @example
 * const recorder = new Recorder()
 * const session = recorder.start({ command: ['node', 'server.js'], tape: 'a.tape.jsonl', client: { input, output } })
 * await recorder.stop() // or let the server or the client end it
 * const { path, frames } = await session
 */
export class Recorder {
  #session: { readonly stop: AbortController; readonly done: Promise<RecordingResult> } | undefined

  get state(): 'idle' | 'recording' {
    return this.#session === undefined ? 'idle' : 'recording'
  }

  /** Starts the server and records until it, the client or `stop` ends the session. */
  start(options: RecorderOptions): Promise<RecordingResult> {
    if (this.#session !== undefined) {
      const hint = 'stop the session first, or use a second recorder'
      return Promise.reject(new ReelayError('USAGE', 'this recorder is already recording', { hint }))
    }
    const stop = new AbortController()
    const done = recordSession(options, stop.signal).finally(() => (this.#session = undefined))
    this.#session = { stop, done }
    return done
  }

  /** Ends the session as if the client had left; resolves when the server is gone. */
  async stop(): Promise<void> {
    this.#session?.stop.abort()
    await this.#session?.done
  }
}

async function recordSession(options: RecorderOptions, stop: AbortSignal): Promise<RecordingResult> {
  const { command, client, cwd, env, redact } = options
  const redaction = openRedaction(redact, options)
  const server = await startServer(command, { ...(cwd !== undefined && { cwd }), ...(env && { env }) })
  const { pid } = server
  if (pid === undefined) throw await serverStartError(server)
  const log = openTapeLog(options, redaction)
  const side = {
    input: client.input,
    output: client.output,
    errors: () => client.errors ?? process.stderr,
    isGone: () => client.output.destroyed || stop.aborted,
  }
  const recorder = createStdioRecorder(options, log)
  const exit = await relay({ server, pid, client: side, recorder, stop })
  return { exit, ...(await log.finish()) }
}

function openTapeLog(options: RecorderOptions, { redactor, vault }: RecordingRedaction): TapeLog {
  const { command, tape, env = process.env, server = serverName(command) } = options
  const labels = pickLabels(options)
  return new TapeLog({
    path: tape,
    header: (started) => stdioHeader({ started, server, command, env, labels }),
    redactor,
    vault,
  })
}

function createStdioRecorder(options: RecorderOptions, log: TapeLog): StdioRecorder {
  const { command, onClientMessage, onServerMessage } = options
  return new StdioRecorder({
    log,
    server: options.server ?? serverName(command),
    maxLineBytes: DEFAULT_MAX_LINE_BYTES,
    ...((onClientMessage ?? onServerMessage) && {
      onMessage: (dir, text) => (dir === 'c2s' ? onClientMessage : onServerMessage)?.(text),
    }),
  })
}
