import { ReelayError } from '../errors.ts'
import { member } from '../wire/message.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { WallClock } from './clock.ts'
import { driftError, hasDrifted, type Drift } from './drift.ts'
import { libraryCall } from './library-call.ts'
import type { LiveBehind } from './live-behind.ts'
import { liveBehind, type LiveOptions } from './live-transport.ts'
import type { Passthrough } from './passthrough.ts'
import type { PlayedTape } from './played-tape.ts'
import { screenFor } from './screen.ts'
import { Player } from './player.ts'
import { playerOptions, type ServeOptions } from './serve-options.ts'
import { whichServer } from './which-server.ts'

export interface ReplayTransportOptions extends Omit<ServeOptions, 'tape'>, LiveOptions {
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
export function replayTransport(tape: PlayedTape, options: ReplayTransportOptions = {}): ReplayTransport {
  return new TapeTransport(tape, options)
}

class TapeTransport implements ReplayTransport {
  onmessage: ((message: unknown) => void) | undefined
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  readonly #player: Player
  readonly #failsOnDrift: boolean
  readonly #tape: PlayedTape
  readonly #server: string
  readonly #live: LiveBehind | undefined
  readonly #elsewhere: Passthrough | undefined
  readonly #queue: string[] = []
  readonly #clock = new WallClock()
  #state: 'new' | 'open' | 'closed' = 'new'
  #isPastHandshake = false
  #isClosed = false

  constructor(tape: PlayedTape, options: ReplayTransportOptions) {
    const { drift = options.permissive === true ? 'ignore' : 'error' } = options
    this.#failsOnDrift = drift === 'error'
    const send = (text: string): void => this.#enqueue(text)
    const playing = playerOptions({ clock: this.#clock, ...options, tape }, (loosening) =>
      libraryCall('replayTransport', loosening),
    )
    this.#tape = tape
    this.#server = whichServer(tape, options.server)
    this.#live = liveBehind(options)
    this.#elsewhere = this.#live?.another()
    this.#player = new Player({
      ...playing,
      ...(this.#elsewhere && { elsewhere: this.#elsewhere }),
      link: { disconnect: () => this.#leave() },
      send,
    })
  }

  async start(): Promise<void> {
    this.#expect('new')
    this.#state = 'open'
    this.#player.start()
  }

  async send(message: unknown): Promise<void> {
    this.#expect('open')
    this.#isPastHandshake ||= !HANDSHAKE_METHODS.has(String(member(message, 'method')))
    this.#player.receive(JSON.stringify(message))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#leave()
    await this.#elsewhere?.over(AbortSignal.abort())
    await this.#live?.learn(this.#tape, this.#server)
    const drift = this.drift()
    // An SDK client whose handshake failed closes without looking: its own error is the one to be seen.
    if (this.#failsOnDrift && this.#isPastHandshake && hasDrifted(drift))
      throw driftError(drift, screenFor(this.#tape.header))
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

  #expect(state: 'new' | 'open'): void {
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
