import { monotonicNow, sleep } from '../../link/process/monotonic-clock.ts'
import type { Readable, Writable } from 'node:stream'
import { FORWARDED_SIGNALS, type ProcessExit, type ServerProcess } from '../../link/process/start.ts'
import { endServer } from '../../link/process/end.ts'
import { startPump, type Pump } from './pump.ts'
import type { StdioRecorder } from './session-recorder.ts'

/** The side of the link that the client holds. */
interface ClientSide {
  readonly input: Readable
  readonly output: Writable
  /** Asked for when the server first writes to its stderr: most never do, and opening ours takes time. */
  readonly errors: () => Writable
  /** Whether the client is known to be gone, which the end of its input alone does not prove. */
  readonly isGone: () => boolean
}

interface RelayOptions {
  readonly server: ServerProcess
  readonly pid: number
  readonly client: ClientSide
  readonly tape: StdioRecorder
  /** Where signals come from; they are put on the tape, and end the session if they end the server. */
  readonly signals?: NodeJS.EventEmitter
  /** Ends the session as if the client had left. */
  readonly stop?: AbortSignal
}

const POLL_MS = 100
const QUIET_MS = 200

/** Stands between a client and a running server until the session is over, and returns how the server ended. */
export async function relay(options: RelayOptions): Promise<ProcessExit> {
  const { server, pid, tape } = options
  tape.event('start', { pid })
  const link = new SessionStreams(options)
  const exit = await server.exited
  link.serverHasLeft()
  await link.drained()
  server.guard.dismiss()
  tape.event('exit', exit.signal === null ? { code: exit.code } : { signal: exit.signal })
  return exit
}

/** The three streams of one session, and what the end of each means for the others. */
class SessionStreams {
  readonly #options: RelayOptions
  readonly #input: Pump
  readonly #output: Pump
  readonly #errors: Pump
  readonly #watch: NodeJS.Timeout
  #isOutputOpen = true
  #areErrorsOpen = true
  #isServerHere = true
  #lastOutputAt = monotonicNow()
  #lastStderrAt = 0
  #ending: Promise<void> | undefined
  #busy: { readonly heard: number; readonly owed: Promise<number> } | undefined

  constructor(options: RelayOptions) {
    this.#options = options
    this.#input = this.#pumpInput()
    this.#output = this.#pumpOutput()
    this.#errors = this.#pumpErrors()
    this.#watchSignals()
    this.#watch = setInterval(() => this.#checkClient(), POLL_MS * 5).unref()
    options.stop?.addEventListener('abort', () => this.#leave(), { once: true })
  }

  serverHasLeft(): void {
    this.#isServerHere = false
    this.#lastStderrAt = monotonicNow()
  }

  /** Resolves when everything that the server said has been handed on, or nobody is left to hear it. */
  async drained(): Promise<void> {
    while (!this.#isAbandoned() && (this.#isOutputOpen || this.#output.isWaiting())) await sleep(POLL_MS / 10)
    while (!this.#isAbandoned() && (this.#isStderrActive() || this.#errors.isWaiting()))
      await sleep(POLL_MS / 10)
    this.#options.tape.endOfStderr()
    clearInterval(this.#watch)
    await this.#ending
  }

  #isAbandoned(): boolean {
    return this.#ending !== undefined && this.#options.client.isGone()
  }

  /** A daemon that the server left behind may hold its stderr for ever. */
  #isStderrActive(): boolean {
    return this.#areErrorsOpen && monotonicNow() - this.#lastStderrAt < QUIET_MS
  }

  /** A server that does not read keeps us from reading too, and then the end of the input is not seen. */
  #checkClient(): void {
    if (this.#ending === undefined && this.#options.client.isGone()) this.#input.readToTheEnd()
  }

  #pumpInput(): Pump {
    const { server, client, tape } = this.#options
    const tap = tape.recordDirection('c2s')
    const to = server.child.stdin
    to.on('error', () => {}) // the server closed its input: reading on is how we learn that the client leaves
    const onEnd = (): void => {
      to.end()
      tap.end()
      tape.event('eof', { dir: 'c2s' })
      this.#end()
    }
    return startPump({
      from: client.input,
      to: () => to,
      onChunk: (chunk, handOn) => tap.pass(chunk, handOn),
      onEnd,
    })
  }

  #pumpOutput(): Pump {
    const { server, client, tape } = this.#options
    const tap = tape.recordDirection('s2c')
    const from = server.child.stdout
    const onChunk = (chunk: Buffer, handOn: () => void): void => {
      this.#lastOutputAt = monotonicNow()
      tap.pass(chunk, handOn)
    }
    const onEnd = (): void => {
      this.#isOutputOpen = false
      tap.end()
    }
    client.output.on('error', () => from.destroy()) // the server's next write fails, as it would without us
    return startPump({ from, to: () => client.output, onChunk, onEnd })
  }

  #pumpErrors(): Pump {
    const { server, client, tape } = this.#options
    const onChunk = (chunk: Buffer, handOn: () => void): void => {
      this.#lastStderrAt = monotonicNow()
      handOn()
      tape.stderr(chunk)
    }
    const onEnd = (): void => {
      this.#areErrorsOpen = false
    }
    return startPump({ from: server.child.stderr, to: client.errors, onChunk, onEnd })
  }

  /** The server itself gets each signal; if that ends it, what it started is ended too. */
  #watchSignals(): void {
    const { server, tape, signals } = this.#options
    for (const signal of FORWARDED_SIGNALS) {
      signals?.on(signal, () => {
        tape.event('signal', { signal, by: 'client' })
        server.exited.then(
          () => this.#leave(),
          () => {},
        )
      })
    }
  }

  #leave(): void {
    this.#options.server.child.stdin.end()
    this.#end()
  }

  #end(): void {
    const { server, pid, client, tape } = this.#options
    this.#ending ??= endServer({
      pid,
      exited: server.exited,
      isClientGone: client.isGone,
      isServerBusy: () => this.#isBusy(),
      lastOutputAt: () => this.#lastOutputAt,
      onSignal: (signal) => tape.event('signal', { signal, by: 'reelay' }),
    })
  }

  /** Read from the tape, and again only after the server has spoken. */
  async #isBusy(): Promise<boolean> {
    const { path } = this.#options.tape
    if (path === undefined || !this.#isServerHere) return false
    if (this.#busy?.heard !== this.#lastOutputAt) {
      this.#busy = { heard: this.#lastOutputAt, owed: unansweredOn(path) }
    }
    return (await this.#busy.owed) > 0
  }
}

/** Loaded only when it is needed, which is rarely: the recorder must start fast. */
async function unansweredOn(path: string): Promise<number> {
  const { countUnanswered } = await import('./unanswered-requests.ts')
  return countUnanswered(path).catch(() => 0)
}
