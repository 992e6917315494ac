import { ReelayError } from '../errors.ts'
import { member } from '../json/parse.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import { SystemClock } from './player/clock.ts'
import { driftError, hasDrifted, type Drift } from './drift.ts'
import { libraryCallText } from './suggested-commands.ts'
import {
  type PassthroughServer,
  passthroughServerFor,
  type LiveUpstreamOptions,
  type Passthrough,
} from './upstream/passthrough.ts'
import { type PlayableTape, resolveServer } from './playable-tape.ts'
import { reportRedactorFor } from './redaction/report-redactor.ts'
import { SessionPlayer } from './player/session-player.ts'
import { sessionPlayerOptions, type ServeOptions } from './serve-options.ts'

export interface ReplayTransportOptions extends Omit<ServeOptions, 'tape'>, LiveUpstreamOptions {
  /** Whether `close` fails when the run has drifted from the tape: by default yes, unless permissive. */
  readonly drift?: 'error' | 'ignore'
}

/** The shape of the SDKs' Transport, in both their versions. */
export interface ReplayTransport {
  start(): Promise<void>
  send(message: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: unknown) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  /** What the run has left over or added so far. */
  drift(): Drift
}

/**
 * The recorded server as a transport, for an SDK client in the same process.
 *
 * @example
 * const transport = replayTransport(await loadTape('search.tape.jsonl'))
 * await client.connect(transport)
 */
export function replayTransport(tape: PlayableTape, options: ReplayTransportOptions = {}): ReplayTransport {
  return new RecordedServerTransport(tape, options)
}

class RecordedServerTransport implements ReplayTransport {
  onmessage: ((message: unknown) => void) | undefined
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  readonly #player: SessionPlayer
  readonly #failsOnDrift: boolean
  readonly #tape: PlayableTape
  readonly #server: string
  readonly #live: PassthroughServer | undefined
  readonly #upstream: Passthrough | undefined
  readonly #queue: string[] = []
  readonly #clock = new SystemClock()
  #state: 'new' | 'open' | 'closed' = 'new'
  #isPastHandshake = false
  #isClosed = false

  constructor(tape: PlayableTape, options: ReplayTransportOptions) {
    const { drift = options.permissive === true ? 'ignore' : 'error' } = options
    this.#failsOnDrift = drift === 'error'
    const send = (text: string): void => this.#enqueue(text)
    const playing = sessionPlayerOptions({ clock: this.#clock, ...options, tape }, (loosening) =>
      libraryCallText('replayTransport', loosening),
    )
    this.#tape = tape
    this.#server = resolveServer(tape, options.server)
    this.#live = passthroughServerFor(options)
    this.#upstream = this.#live?.connectClient()
    this.#player = new SessionPlayer({
      ...playing,
      upstream: this.#upstream,
      faultActions: () => ({ disconnect: () => this.#leave() }),
      send,
    })
  }

  async start(): Promise<void> {
    this.#requireState('new')
    this.#state = 'open'
    this.#player.start()
  }

  async send(message: unknown): Promise<void> {
    this.#requireState('open')
    this.#isPastHandshake ||= !isOpeningMethod(String(member(message, 'method')))
    this.#player.handleText(JSON.stringify(message))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#leave()
    await this.#upstream?.close(AbortSignal.abort())
    await this.#live?.appendToTape(this.#tape, this.#server)
    const drift = this.drift()
    // An SDK client whose handshake failed closes without looking: its own error is the one to be seen.
    if (this.#failsOnDrift && this.#isPastHandshake && hasDrifted(drift))
      throw driftError(drift, reportRedactorFor(this.#tape.header))
  }

  drift(): Drift {
    return this.#player.drift()
  }

  /** The link is over, by the client's will or by a fault. */
  #leave(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#clock.stop()
    this.onclose?.()
  }

  #requireState(state: 'new' | 'open'): void {
    if (this.#state === state) return
    const hint = 'make one replay transport for each connection, and start it once'
    throw new ReelayError('USAGE', `the replay transport is ${this.#state}, not ${state}`, { hint })
  }

  // One message at a time, as from a slow link: SDK clients lose progress that arrives together with the answer.
  #enqueue(text: string): void {
    this.#queue.push(text)
    if (this.#queue.length === 1) setImmediate(() => this.#deliver())
  }

  #deliver(): void {
    const [text] = this.#queue
    if (text === undefined || this.#state === 'closed') return
    try {
      this.onmessage?.(JSON.parse(text))
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
    this.#queue.shift()
    if (this.#queue.length > 0) setImmediate(() => this.#deliver())
  }
}
