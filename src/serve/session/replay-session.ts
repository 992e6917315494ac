// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows what was recorded: naming it here lets a session stand in for a client
import type { RecordedRequest } from '../../match/matcher.ts'
import type { Tape } from '../../store/read.ts'
import { member, type JsonObject } from '../../wire/message.ts'
import { WallClock } from '../clock.ts'
import { driftError, hasDrifted, type Drift } from '../drift.ts'
import { libraryCall } from '../library-call.ts'
import type { Script } from '../script.ts'
import { playerOptions, type ServeOptions } from '../serve-options.ts'
import { INITIALIZE, isInitializeRecorded, standInForInitialize } from './initialized.ts'
import { methodNamed, type Heard, type MethodName } from './method-name.ts'
import { recorded } from './recorded-value.ts'
import { SessionAsks } from './session-asks.ts'
import { SessionCalls } from './session-calls.ts'
import { SessionLink } from './session-link.ts'
import { SyncSession } from './sync-session.ts'

export interface ReplaySessionOptions extends Omit<ServeOptions, 'tape'> {
  /** `null`: what is not on the tape is null, as with `permissive`. By default it is an error. */
  readonly onUnknown?: 'error' | 'null'
  /** Whether `close` fails when the run has drifted from the tape: by default yes, unless permissive. */
  readonly drift?: 'error' | 'ignore'
}

/**
 * A recorded session to ask in place of a client of the SDK: same calls, same shapes, and no server, transport or SDK behind
 * them. `sync` has the same calls without promises.
 *
 * @example
 * const session = new ReplaySession(await loadTape('search.tape.jsonl'))
 * const { content } = await session.callTool({ name: 'search', arguments: { q: 'reel' } })
 * const tools = session.sync.listTools()
 * console.log(session.unconsumedKeys()) // recorded and not asked for
 */
export class ReplaySession extends SessionCalls {
  readonly sync: SyncSession
  readonly #asks: SessionAsks
  readonly #link: SessionLink
  readonly #script: Script
  readonly #failsOnDrift: boolean
  readonly #clock: WallClock
  #server: unknown

  constructor(tape: Tape, options: ReplaySessionOptions = {}) {
    const { permissive = false, onUnknown = permissive ? 'null' : 'error' } = options
    const clock = new WallClock()
    const playing = playerOptions({ clock, ...options, tape }, (loosening) =>
      libraryCall('new ReplaySession', loosening),
    )
    const link = new SessionLink(playing)
    const asks = new SessionAsks(link, onUnknown === 'null')
    super(asks.later)
    this.#asks = asks
    this.#link = link
    this.#script = playing.script
    this.#failsOnDrift = (options.drift ?? (permissive ? 'ignore' : 'error')) === 'error'
    this.#clock = clock
    this.sync = new SyncSession(asks.now, () => this.#initializeNow())
  }

  /** Opens the session as a client would. It takes what a client takes, and needs none of it. */
  async connect(..._unneeded: readonly unknown[]): Promise<void> {
    await this.initialize()
    if (this.#script.era.era !== 'modern') this.#link.send({ method: 'notifications/initialized' })
  }

  /** The recorded answer; where nobody recorded one, what the rest of the tape shows of the server. */
  async initialize<Result = JsonObject>(): Promise<Result> {
    const result = isInitializeRecorded(this.#script)
      ? await this.#asks.later('initialize', INITIALIZE)
      : standInForInitialize(this.#script)
    this.#server = result
    return recorded(result)
  }

  getServerCapabilities<Result = JsonObject>(): Result | undefined {
    return recorded(member(this.#server, 'capabilities'))
  }

  getServerVersion<Result = JsonObject>(): Result | undefined {
    return recorded(member(this.#server, 'serverInfo'))
  }

  getInstructions(): string | undefined {
    return recorded(member(this.#server, 'instructions'))
  }

  /** Hears the recorded notifications of a method, which come with the calls that set them off. */
  setNotificationHandler(method: MethodName, handler: (notification: Heard) => void): void {
    this.#link.handle(methodNamed(method), handler)
  }

  /** Answers what the server asks by a method. Without a handler the client's recorded answer is taken. */
  setRequestHandler(method: MethodName, handler: (request: Heard) => unknown): void {
    this.#link.handle(methodNamed(method), handler)
  }

  /** One request object in, one response object out, as on the wire: a miss is the error that a client would get. */
  handleRequest(request: object): JsonObject {
    return this.#asks.respond(request)
  }

  /** What was recorded and not asked for yet. */
  unconsumedKeys(): readonly RecordedRequest[] {
    return this.#script.leftOver()
  }

  /** What the run has left over or added so far. */
  drift(): Drift {
    return this.#link.player.drift()
  }

  /** Ends what is still to come; fails when the run has drifted from the tape, unless that is to be ignored. */
  async close(): Promise<void> {
    this.#clock.stop()
    if (this.#failsOnDrift && hasDrifted(this.drift())) throw driftError(this.drift(), this.#script.screen)
  }

  #initializeNow(): unknown {
    return isInitializeRecorded(this.#script)
      ? this.#asks.now('initialize', INITIALIZE)
      : standInForInitialize(this.#script)
  }
}
