import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { ServerHooks } from './hooks.ts'
import {
  nthConnection,
  ServerNames,
  TapeSet,
  queryForCommand,
  queryForUrl,
  type ServerOnTape,
} from './server-lookup.ts'
import { ReelayError } from '../errors.ts'
import type { Miss } from '../match/miss/miss.ts'
import { missAsText } from '../match/miss/report.ts'
import { serverName, serverNameFromUrl } from '../record/tape-header.ts'
import {
  appendReplayReport,
  formatDrift,
  hasDrifted,
  replayedSession,
  REPORT_VARIABLE,
  type Drift,
} from '../serve/drift.ts'
import { serveFetch } from '../serve/http/serve-fetch.ts'
import { createServedRecording } from '../serve/http/served-recording.ts'
import { createThrowawayRedactor, reportRedactorFor } from '../serve/redaction/report-redactor.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/serve-stdio.ts'
import { resolveTape } from '../store/home.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import { escapeControlChars, quoteShellWord, quoteTapeArgument } from '../text.ts'

/** Plays every server of this process from the tape. No process is started, and no socket is opened. */
export function replayServers({ tape: name, isMeant }: { tape: string; isMeant: ServerFilter }): ServerHooks {
  if (!existsSync(resolveTape(name))) throw tapeNotFound(name)
  const tapes = new TapeSet(name)
  const names = new ServerNames()
  const account = new ReplayAccount(process.env[REPORT_VARIABLE], name)
  const played = new PlayedServers({ tapes, name, names, account })
  process.once('exit', () => account.close())
  return {
    onUnseen: (server) => account.addLive(server),
    onStart: ({ command, options }) => {
      const server = names.nameOf(command, serverName(command))
      if (!isMeant(server)) return undefined
      const prepare = played.start(command)
      const hasStderr = Array.isArray(options.stdio) && options.stdio[2] !== 'inherit'
      return new RecordedProcess({ command, hasStderr, prepare, signal: options.signal }).asChild()
    },
    onFetch: ({ endpoint, fetch }) => {
      const server = names.nameOf(endpoint.href, serverNameFromUrl(endpoint))
      if (!isMeant(server)) return fetch
      return serveFetch(endpoint, async () => {
        const part = await tapes.findServer(queryForUrl(endpoint))
        const recording = createServedRecording({
          options: serveOptions(part, { name }),
          newId: randomUUID,
          commandFor: NO_COMMAND,
        })
        // A server over HTTP does not know when its last client is gone.
        account.add(part, () => recording.drift())
        return recording
      })
    },
  }
}

interface PlayedServersOptions {
  readonly tapes: TapeSet
  /** The name of the tape, for reports. */
  readonly name: string
  readonly names: ServerNames
  readonly account: ReplayAccount
  /** The command that records the program again; by default for the program of this process. */
  readonly recordCommand?: string
}

/** Plays stdio servers. The nth start of a server gets the responses of its nth recorded start. */
export class PlayedServers {
  readonly #options: PlayedServersOptions
  readonly #starts = new Map<string, number>()

  constructor(options: PlayedServersOptions) {
    this.#options = options
  }

  /** Counts the start of a server. Returns the function that finds it on the tape. */
  start(command: readonly string[]): RecordedProcessOptions['prepare'] {
    const { tapes, names, account } = this.#options
    const server = names.nameOf(command, serverName(command))
    const conn = (this.#starts.get(server) ?? 0) + 1
    this.#starts.set(server, conn)
    return async () => {
      const part = nthConnection(await tapes.findServer(queryForCommand(command)), conn)
      return async (streams) => {
        let report: (() => void) | undefined
        const onStart = (drift: () => Drift): void => void (report = account.add(part, drift))
        const options = serveOptions(part, this.#options)
        await serveStdio({ ...options, ...streams, onStart, commandFor: NO_COMMAND })
        report?.()
      }
    }
  }
}

export function serveOptions(
  { tape, server }: ServerOnTape,
  { name, recordCommand }: Pick<PlayedServersOptions, 'name' | 'recordCommand'>,
): ServeOptions & ServerOnTape {
  return {
    tape,
    name,
    server,
    onMiss: printMiss,
    recordCommand: () => recordCommand ?? runRecordCommand(name),
  }
}

function printMiss(miss: Miss): void {
  printToStderr(missAsText(miss))
}

/** A program takes no options that make matching less strict, so no miss suggests any. */
export const NO_COMMAND = (): undefined => undefined

/** Set by `reelay test run` for its children: the command that records the tape again. */
export const RECORD_AGAIN_VARIABLE = 'REELAY_RUN_RECORD_AGAIN'

/** The command that records this program again. */
function runRecordCommand(tape: string): string {
  const { [RECORD_AGAIN_VARIABLE]: given } = process.env
  if (given !== undefined) return given
  const program = [basename(process.argv0), ...process.execArgv, ...process.argv.slice(1)]
  const words = createThrowawayRedactor().command(program).map(quoteShellWord)
  return `reelay run --record ${quoteTapeArgument(tape)} --overwrite -- ${words.join(' ')}`
}

/** What the servers of this process were played. `reelay run` reads it from a file when the program has ended. */
export class ReplayAccount {
  readonly #file: string | undefined
  readonly #tape: string
  readonly #open = new Set<() => void>()
  /** Requests of sessions without a difference. */
  #answered = 0

  constructor(file: string | undefined, tape: string) {
    this.#file = file
    this.#tape = tape
  }

  /** Adds a session. Returns the function that reports it; at the latest it is reported when the process exits. */
  add({ tape, server }: ServerOnTape, drift: () => Drift): () => void {
    const report = (): void => {
      if (!this.#open.delete(report)) return
      const found = drift()
      appendReplayReport(replayedSession(server, found), this.#file)
      if (!hasDrifted(found)) this.#answered += found.answered
      else printToStderr(`reelay: ${server}: ${formatDrift(found, reportRedactorFor(tape.header))}`)
    }
    this.#open.add(report)
    return report
  }

  /** Adds a connection that is not replaced, because its client is not recognised. */
  addLive(server: string): void {
    appendReplayReport({ live: server }, this.#file)
    printToStderr(
      `reelay: ${server} is live, not played: Reelay does not recognise the MCP client that connects to it (docs/reference/run.md)`,
    )
  }

  /** Adds a request that got an error, because its server is not on the tape. */
  addRefused(server: string, why: string): void {
    appendReplayReport({ server, answered: 0, misses: 1, leftOver: 0 }, this.#file)
    printToStderr(`reelay: a request to ${server} was refused: ${escapeControlChars(why)}`)
  }

  close(): void {
    for (const report of this.#open) report()
    if (this.#file !== undefined || this.#answered === 0) return
    const count = `${this.#answered} ${this.#answered === 1 ? 'request' : 'requests'}`
    printToStderr(`reelay: ${count} answered from ${this.#tape}`)
    this.#answered = 0
  }
}

function tapeNotFound(name: string): ReelayError {
  return new ReelayError('TAPE_NOT_FOUND', `there is no tape ${name}: ${resolveTape(name)} does not exist`, {
    hint: `record it first, with REELAY_RECORD=${name} instead of REELAY_REPLAY; reelay list shows all tapes`,
  })
}

// Stdout belongs to the program.
function printToStderr(text: string): void {
  process.stderr.write(`${text}\n`)
}

interface RecordedProcessOptions {
  readonly command: readonly string[]
  readonly hasStderr: boolean
  /** Ends the process when it aborts, as `spawn` does. */
  readonly signal?: AbortSignal | undefined
  /** Prepares the playback. If it fails, the process fails to start. */
  readonly prepare: () => Promise<(streams: ProcessStreams) => Promise<void>>
}

interface ProcessStreams {
  readonly input: Readable
  readonly output: Writable
  readonly signal: AbortSignal
}

const KEEP_ALIVE_MS = 2 ** 30
const ABORT_ERROR = { name: 'AbortError', code: 'ABORT_ERR' }

/** A `ChildProcess` without a process: the recorded server is played on its streams. */
class RecordedProcess extends EventEmitter {
  readonly stdin: PassThrough = new PassThrough()
  readonly stdout: PassThrough = new PassThrough()
  readonly stderr: PassThrough | null
  readonly stdio: readonly (PassThrough | null)[]
  readonly spawnfile: string
  readonly spawnargs: readonly string[]
  readonly pid: undefined = undefined
  readonly connected: boolean = false
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  killed: boolean = false
  readonly #stop = new AbortController()
  /** A running child process would keep the program running. */
  readonly #running = setInterval(() => {}, KEEP_ALIVE_MS)

  constructor({ command, hasStderr, prepare, signal }: RecordedProcessOptions) {
    super()
    this.spawnfile = command[0] ?? ''
    this.spawnargs = command
    this.stderr = hasStderr ? new PassThrough() : null
    this.stdio = [this.stdin, this.stdout, this.stderr]
    signal?.addEventListener('abort', () => this.#abort(signal.reason), { once: true })
    void this.#run(prepare)
  }

  /** Returns this object as the result of `spawn`. It has everything that the SDKs use of a child process. */
  asChild(): ChildProcess {
    return this as unknown as ChildProcess
  }

  kill(signal: NodeJS.Signals | number = 'SIGTERM'): boolean {
    if (this.exitCode !== null || this.signalCode !== null) return false
    if (signal === 0) return true
    this.killed = true
    this.#stop.abort(typeof signal === 'string' ? signal : 'SIGTERM')
    return true
  }

  #abort(cause: unknown): void {
    if (!this.kill()) return
    this.emit('error', Object.assign(new Error('The operation was aborted', { cause }), ABORT_ERROR))
  }

  ref(): void {
    this.#running.ref()
  }

  unref(): void {
    this.#running.unref()
  }

  async #run(prepare: RecordedProcessOptions['prepare']): Promise<void> {
    const { signal } = this.#stop
    try {
      const play = await prepare()
      this.emit('spawn')
      await play({ input: this.stdin, output: this.stdout, signal })
      this.#end(signal.aborted ? { signal: signal.reason as NodeJS.Signals } : { code: 0 })
    } catch (error) {
      clearInterval(this.#running)
      this.emit('error', error)
    }
  }

  #end({ code = null, signal = null }: { code?: number | null; signal?: NodeJS.Signals | null }): void {
    clearInterval(this.#running)
    this.exitCode = code
    this.signalCode = signal
    this.emit('exit', code, signal)
    this.stderr?.end()
    const close = (): void => void this.emit('close', code, signal)
    if (this.stdout.destroyed) setImmediate(close)
    else this.stdout.once('close', close).end()
  }
}
