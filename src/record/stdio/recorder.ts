import type { Readable, Writable } from 'node:stream'
import { ReelayError } from '../../errors.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { startServer, type ProcessExit, serverStartError } from '../../link/process/server-process.ts'
import { serverName, stdioServer } from '../tape-header.ts'
import { pickLabels, type TapeLabelOptions } from '../../tape/header.ts'
import { openRedaction, type RedactOption } from '../redaction.ts'
import { relay } from './relay.ts'
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
 * Records stdio sessions, one after the other, over streams of the caller.
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Ends the session as if the client had left; resolves when the server is gone. */
  async stop(): Promise<void> {
    this.#session?.stop.abort()
    await this.#session?.done
  }
}

async function recordSession(options: RecorderOptions, stop: AbortSignal): Promise<RecordingResult> {
  const { command, tape, client, cwd, env, onClientMessage, onServerMessage } = options
  const name = options.server ?? serverName(command)
  const { redactor, vault } = openRedaction(options.redact, options)
  const server = await startServer(command, { cwd, env })
  const { family } = server
  if (family === undefined) throw await serverStartError(server)
  const log = new TapeLog({
    continuesProbe: true,
    path: tape,
    servers: () => ({ [name]: stdioServer(command, env ?? process.env) }),
    labels: pickLabels(options),
    redactor,
    vault,
  })
  const isWatched = onClientMessage !== undefined || onServerMessage !== undefined
  const recorder = new StdioRecorder({
    log,
    server: name,
    maxLineBytes: DEFAULT_MAX_LINE_BYTES,
    onMessage: isWatched
      ? (dir, text) => (dir === 'c2s' ? onClientMessage : onServerMessage)?.(text)
      : undefined,
  })
  const side = {
    input: client.input,
    output: client.output,
    errors: () => client.errors ?? process.stderr,
    isGone: () => client.output.destroyed || stop.aborted,
  }
  const exit = await relay({ server: { ...server, family }, client: side, recorder, stop })
  return { exit, ...(await log.finish()) }
}
