import type { Readable, Writable } from 'node:stream'
import type { ProcessFamily } from '../../link/process/process-family.ts'
import { monotonicNow, sleep } from '../../link/process/monotonic-clock.ts'
import {
  endServer,
  FORWARDED_SIGNALS,
  type ProcessExit,
  type ServerProcess,
} from '../../link/process/server-process.ts'
import { idKey, cancelledId, type Direction, type Message } from '../../protocol/message.ts'
import { holdsOnlyProbe } from '../../store/file/opening-frames.ts'
import { isSeenBy } from '../../tape/frame.ts'
import { startPump, type Pump } from './pump.ts'
import type { InterceptedLink } from '../intercept/link-interceptor.ts'
import type { LinePorts, StdioRecorder } from './stdio-recorder.ts'

/** The client's side of the link. */
interface ClientSide {
  readonly input: Readable
  readonly output: Writable
  /** Called when the server first writes to its stderr. Most servers never do, and opening our own takes time. */
  readonly errors: () => Writable
  /** Whether the client is known to be gone. The end of its input alone does not prove that. */
  readonly isGone: () => boolean
}

interface RelayOptions {
  readonly server: ServerProcess & { readonly family: ProcessFamily }
  readonly client: ClientSide
  readonly recorder: StdioRecorder
  /** The source of signals. They are recorded, and end the session if they end the server. */
  readonly signals?: NodeJS.EventEmitter
  /** Ends the session as if the client had left. */
  readonly stop?: AbortSignal
}

const POLL_MS = 100
const QUIET_MS = 200

/** Passes bytes between a client and a running server until the session is over. Returns how the server ended. */
export async function relay(options: RelayOptions): Promise<ProcessExit> {
  const { server, recorder } = options
  recorder.event('start', { pid: server.pid })
  const streams = new SessionStreams(options)
  const exit = await server.exited
  streams.serverExited()
  await streams.drained()
  await streams.leftoversEnded()
  server.guard.dismiss()
  recorder.event('exit', exit.signal === null ? { code: exit.code } : { signal: exit.signal })
  return exit
}

/** The three streams of one session. The end of one may end the others. */
class SessionStreams {
  readonly #options: RelayOptions
  readonly #input: Pump
  readonly #output: Pump
  readonly #errors: Pump
  readonly #watch: NodeJS.Timeout
  #isOutputOpen = true
  #areErrorsOpen = true
  #isServerRunning = true
  #lastOutputAt = monotonicNow()
  #lastStderrAt = 0
  /** The client has ended the server, and has sent nothing but a probe. */
  #isProbeOver = false
  #ending: Promise<void> | undefined
  #unanswered: { readonly readAt: number; readonly count: Promise<number> } | undefined

  constructor(options: RelayOptions) {
    this.#options = options
    this.#input = this.#pumpInput()
    this.#output = this.#pumpOutput()
    this.#errors = this.#pumpErrors()
    this.#watchSignals()
    this.#watch = setInterval(() => this.#checkClient(), POLL_MS * 5).unref()
    options.stop?.addEventListener('abort', () => this.#leave(), { once: true })
  }

  serverExited(): void {
    this.#isServerRunning = false
    this.#lastStderrAt = monotonicNow()
  }

  /** Resolves when all output of the server has been handed on, or the client is gone. */
  async drained(): Promise<void> {
    this.#interception?.end('c2s', 'the server ended', false)
    while (!this.#isAbandoned() && this.#isOutputPending()) await sleep(POLL_MS / 10)
    this.#interception?.end('s2c', 'the client is gone', false)
    while (!this.#isAbandoned() && (this.#isStderrActive() || this.#errors.isWaiting()))
      await sleep(POLL_MS / 10)
    this.#options.recorder.endOfStderr()
    clearInterval(this.#watch)
    await this.#ending
  }

  /** Ends the processes that a server has left behind. Resolves when they are gone. */
  async leftoversEnded(): Promise<void> {
    if (this.#options.server.family.isAlive()) this.#end(true)
    await this.#ending
  }

  get #interception(): InterceptedLink | undefined {
    return this.#options.recorder.interception
  }

  #isOutputPending(): boolean {
    return this.#isOutputOpen || this.#output.isWaiting() || this.#interception?.isHolding('s2c') === true
  }

  #isAbandoned(): boolean {
    return this.#ending !== undefined && this.#options.client.isGone()
  }

  /** A daemon that the server has started may keep its stderr open forever. */
  #isStderrActive(): boolean {
    return this.#areErrorsOpen && monotonicNow() - this.#lastStderrAt < QUIET_MS
  }

  /** A server that does not read its input keeps the pump from reading, and the end of the input is not noticed. */
  #checkClient(): void {
    if (!this.#options.client.isGone()) return
    this.#releaseForGoneClient()
    if (this.#ending === undefined) this.#input.readToTheEnd()
  }

  /** Nobody waits for what the client sent last, so it is not executed. */
  #releaseForGoneClient(): void {
    this.#interception?.end('c2s', 'the client is gone', false)
    this.#interception?.end('s2c', 'the client is gone', false)
  }

  readonly #ports: LinePorts = {
    send: (dir, line) => {
      const pump = dir === 'c2s' ? this.#input : this.#output
      pump.send(Buffer.from(`${line}\n`))
    },
    sendAs: (line, wire) => {
      const { write, release } = this.#output.hold()
      const end = (): void => {
        release()
        this.#disconnect()
      }
      const port = {
        write,
        finish: release,
        halfClose: () => {
          this.#options.client.output.end()
          release()
        },
        reset: end,
      }
      wire(Buffer.from(`${line}\n`), port)
    },
    disconnect: () => this.#disconnect(),
  }

  /** The client sees what it would see if the server crashed. */
  #disconnect(): void {
    this.#options.client.output.end()
    this.#options.server.child.stdin.end()
    this.#end(true)
  }

  #pumpInput(): Pump {
    const { server, client, recorder } = this.#options
    const lines = recorder.recordDirection('c2s', this.#ports)
    const to = server.child.stdin
    to.on('error', () => {}) // the server closed its input; only further reading shows that the client leaves
    const leave = (): void => {
      to.end()
      recorder.event('eof', { dir: 'c2s' })
      this.#end()
    }
    const onEnd = (): void => {
      lines.end((bytes) => bytes && this.#input.send(bytes))
      if (this.#interception === undefined) leave()
      else void this.#inputReleased().then(leave)
    }
    return startPump({
      from: client.input,
      to: () => to,
      onChunk: lines.pass,
      onEnd,
    })
  }

  /** A client may close its input while its messages are held, and still wait for the responses. */
  async #inputReleased(): Promise<void> {
    while (this.#isServerRunning && this.#interception?.isHolding('c2s') === true) {
      if (this.#options.client.isGone()) this.#releaseForGoneClient()
      else await sleep(POLL_MS / 10)
    }
  }

  #pumpOutput(): Pump {
    const { server, client, recorder } = this.#options
    const lines = recorder.recordDirection('s2c', this.#ports)
    const from = server.child.stdout
    const onChunk = (chunk: Buffer, handOn: (bytes?: Uint8Array) => void): void => {
      this.#lastOutputAt = monotonicNow()
      lines.pass(chunk, handOn)
    }
    const onEnd = (): void => {
      this.#isOutputOpen = false
      lines.end((bytes) => bytes && this.#output.send(bytes))
    }
    client.output.on('error', () => from.destroy()) // the next write of the server fails, as it would without a recorder
    return startPump({ from, to: () => client.output, onChunk, onEnd })
  }

  #pumpErrors(): Pump {
    const { server, client, recorder } = this.#options
    const onChunk = (chunk: Buffer, handOn: () => void): void => {
      this.#lastStderrAt = monotonicNow()
      handOn()
      recorder.stderr(chunk)
    }
    const onEnd = (): void => {
      this.#areErrorsOpen = false
    }
    return startPump({ from: server.child.stderr, to: client.errors, onChunk, onEnd })
  }

  /** The caller forwards signals to the server. If one ends it, the processes that it started are ended too. */
  #watchSignals(): void {
    const { server, recorder, signals } = this.#options
    for (const signal of FORWARDED_SIGNALS) {
      signals?.on(signal, () => {
        recorder.event('signal', { signal, by: 'client' })
        // After a probe, SDK v2 kills what it started one second later, and starts the session.
        this.#isProbeOver ||=
          signal === 'SIGTERM' && recorder.path !== undefined && holdsOnlyProbe(recorder.path)
        this.#interception?.end('c2s', signal, false)
        this.#interception?.end('s2c', signal, true)
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

  #end(isHurried = false): void {
    const { server, client, recorder } = this.#options
    this.#ending ??= endServer({
      family: server.family,
      exited: server.exited,
      isHurried,
      isProbeOver: () => this.#isProbeOver,
      isClientGone: client.isGone,
      isServerBusy: () => this.#isBusy(),
      lastOutputAt: () => this.#lastOutputAt,
      onSignal: (signal) => recorder.event('signal', { signal, by: 'reelay' }),
    })
  }

  /** Whether requests have no response yet. Reads the tape, and again only after new output of the server. */
  async #isBusy(): Promise<boolean> {
    const { path } = this.#options.recorder
    if (path === undefined || !this.#isServerRunning) return false
    if (this.#unanswered?.readAt !== this.#lastOutputAt)
      this.#unanswered = { readAt: this.#lastOutputAt, count: countUnanswered(path).catch(() => 0) }
    return (await this.#unanswered.count) > 0
  }
}

/** Counts the requests of the client that have no response yet, on a tape that is still being written. */
async function countUnanswered(path: string): Promise<number> {
  const { openTape } = await import('../../store/file/read.ts') // rarely needed, and the recorder must start fast
  const unanswered = new Set<string>()
  const tape = await openTape(path)
  for await (const frame of tape.frames()) {
    if (frame.kind !== 'message' || !isSeenBy(frame, 'server')) continue
    const { dir, message } = frame
    for (const item of message.kind === 'batch' ? message.items : [message])
      updateUnanswered(unanswered, dir, item)
  }
  return unanswered.size
}

function updateUnanswered(unanswered: Set<string>, dir: Direction, message: Message): void {
  if (dir === 'c2s' && message.kind === 'request') unanswered.add(idKey(message.id))
  if (dir === 's2c' && message.kind === 'response' && message.id !== null)
    unanswered.delete(idKey(message.id))
  const cancelled = dir === 'c2s' ? cancelledId(message) : undefined
  if (cancelled !== undefined) unanswered.delete(idKey(cancelled))
}
