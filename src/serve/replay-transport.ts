import { ReelayError } from '../errors.ts'
import { member } from '../json/parse.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import { toFaultRules, type FaultSetting } from '../faults/fault-rules.ts'
import { parseOverrides, type Override } from './overrides.ts'
import { SystemClock } from './player/clock.ts'
import { driftError, hasDrifted, type Drift } from './drift.ts'
import { libraryCallText, sessionPlayerOptions, type ServeOptions } from './serve-options.ts'
import {
  type PassthroughServer,
  passthroughServerFor,
  type LiveUpstreamOptions,
  type Passthrough,
} from './upstream/passthrough.ts'
import { type PlayableTape, resolveServer } from './playable-tape.ts'
import { reportRedactorFor } from './redaction/report-redactor.ts'
import { SessionPlayer } from './player/session-player.ts'

export interface ReplayTransportOptions extends Omit<ServeOptions, 'tape'>, LiveUpstreamOptions {
  /** `error`: `close` fails if the run has drifted from the tape. The default is `error`, with `permissive` it is `ignore`. */
  readonly drift?: 'error' | 'ignore'
  /** The function that suggested calls in reports of misses name. The default is `replayTransport`. */
  readonly callName?: string
}

/** A `Transport` of the SDKs, versions 1 and 2. */
export interface ReplayTransport extends AsyncDisposable {
  start(): Promise<void>
  send(message: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: unknown) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  /** Reports how the run differs from the tape so far. */
  drift(): Drift
  /** Injects faults from now on, before those that were given earlier. */
  injectFaults(faults: readonly FaultSetting[]): void
  /** Overrides responses from now on, before the overrides that were given earlier. */
  override(overrides: readonly Override[]): void
}

/**
 * Serves a tape through a transport for an SDK client in the same process.
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
  #ending: Promise<void> | undefined

  constructor(tape: PlayableTape, options: ReplayTransportOptions) {
    const { drift = options.permissive === true ? 'ignore' : 'error' } = options
    this.#failsOnDrift = drift === 'error'
    const send = (text: string): void => this.#enqueue(text)
    const playing = sessionPlayerOptions({ clock: this.#clock, ...options, tape }, (loosening) =>
      libraryCallText(options.callName ?? 'replayTransport', loosening),
    )
    this.#tape = tape
    this.#server = resolveServer(tape, options.server)
    this.#live = passthroughServerFor(options)
    this.#upstream = this.#live?.connectClient()
    this.#player = new SessionPlayer({
      ...playing,
      upstream: this.#upstream,
      faultActions: () => ({ disconnect: () => this.#disconnect() }),
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
    if (this.#ending !== undefined) return this.#ending.catch(() => {}) // the first call reports a failure
    this.#disconnect()
    this.#ending = this.#endUpstream()
    await this.#ending
    const drift = this.drift()
    // An SDK client closes the transport if its handshake fails. Its own error must not be replaced by this one.
    if (this.#failsOnDrift && this.#isPastHandshake && hasDrifted(drift))
      throw driftError(drift, reportRedactorFor(this.#tape.header))
  }

  async #endUpstream(): Promise<void> {
    await this.#upstream?.close(AbortSignal.abort())
    await this.#live?.appendToTape(this.#tape, this.#server)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  drift(): Drift {
    return this.#player.drift()
  }

  injectFaults(faults: readonly FaultSetting[]): void {
    this.#player.injectFaults(toFaultRules(faults))
  }

  override(overrides: readonly Override[]): void {
    this.#player.override(parseOverrides({ overrides }))
  }

  /** Ends the connection: the client closed it, or a fault did. */
  #disconnect(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#clock.stop()
    this.onclose?.()
  }

  #requireState(state: 'new' | 'open'): void {
    if (this.#state === state) return
    const hint = 'create one replay transport for each connection, and start it once'
    throw new ReelayError('USAGE', `the replay transport is ${this.#state}, not ${state}`, { hint })
  }

  // Messages are delivered one at a time: SDK clients lose progress that arrives together with the response.
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
