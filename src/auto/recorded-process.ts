import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough, type Readable, type Writable } from 'node:stream'

export interface RecordedProcessOptions {
  readonly command: readonly string[]
  readonly hasStderr: boolean
  /** Prepares the playback. If it fails, the process fails to start. */
  readonly prepare: () => Promise<(streams: ProcessStreams) => Promise<void>>
}

interface ProcessStreams {
  readonly input: Readable
  readonly output: Writable
  readonly signal: AbortSignal
}

const KEEP_ALIVE_MS = 2 ** 30

/** A `ChildProcess` without a process: the recorded server is played on its streams. */
export class RecordedProcess extends EventEmitter {
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

  constructor({ command, hasStderr, prepare }: RecordedProcessOptions) {
    super()
    this.spawnfile = command[0] ?? ''
    this.spawnargs = command
    this.stderr = hasStderr ? new PassThrough() : null
    this.stdio = [this.stdin, this.stdout, this.stderr]
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
