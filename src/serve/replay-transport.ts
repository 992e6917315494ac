import { ReelayError } from '../errors.ts'
import type { Loosening } from '../match/loosening.ts'
import { member } from '../wire/message.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { driftAsText, hasDrifted, type Drift } from './drift.ts'
import type { PlayedTape } from './played-tape.ts'
import { Player } from './player.ts'
import { playerOptions, type ServeOptions } from './serve-options.ts'

export interface ReplayTransportOptions extends Omit<ServeOptions, 'tape'> {
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
  readonly #queue: string[] = []
  #state: 'new' | 'open' | 'closed' = 'new'
  #isPastHandshake = false

  constructor(tape: PlayedTape, options: ReplayTransportOptions) {
    const { drift = options.permissive === true ? 'ignore' : 'error' } = options
    this.#failsOnDrift = drift === 'error'
    const send = (text: string): void => this.#enqueue(text)
    this.#player = new Player({ ...playerOptions({ ...options, tape }, transportCall), send })
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
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.onclose?.()
    const drift = this.drift()
    // An SDK client whose handshake failed closes without looking: its own error is the one to be seen.
    if (this.#failsOnDrift && this.#isPastHandshake && hasDrifted(drift)) throw driftError(drift)
  }

  drift(): Drift {
    return this.#player.drift()
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

function transportCall({ server, match, ignore, rules, permissive }: Loosening): string {
  const options = [
    ...(server === undefined ? [] : [`server: ${JSON.stringify(server)}`]),
    ...(match === undefined ? [] : [`match: ${JSON.stringify(match)}`]),
    ...(ignore.length === 0 ? [] : [`ignore: ${JSON.stringify(ignore)}`]),
    ...(rules.length === 0 ? [] : [`rules: ${JSON.stringify(rules)}`]),
    ...(permissive ? ['permissive: true'] : []),
  ]
  return `replayTransport(tape, { ${options.join(', ')} })`
}

function driftError(drift: Drift): ReelayError {
  return new ReelayError('REPLAY_DRIFT', `the run drifted from the tape: ${driftAsText(drift)}`, {
    hint: "ask for what was left over, or pass { drift: 'ignore' } to replayTransport",
  })
}
