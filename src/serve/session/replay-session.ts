// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows what was recorded: naming it here lets a session stand in for a client
import { ReelayError } from '../../errors.ts'
import type { RecordedRequest } from '../../match/matcher.ts'
import type { Tape } from '../../store/read.ts'
import { classify, isObject, member, type JsonObject } from '../../wire/message.ts'
import { WallClock } from '../clock.ts'
import { driftError, hasDrifted, type Drift } from '../drift.ts'
import { libraryCall } from '../library-call.ts'
import type { Script } from '../script.ts'
import { playerOptions, type ServeOptions } from '../serve-options.ts'
import { INITIALIZE, isInitializeRecorded, standInForInitialize } from './initialized.ts'
import { methodNamed, type Heard, type MethodName } from './method-name.ts'
import { resultOf, SessionLink, type Outcome } from './session-link.ts'
import type { CallOptions, CallParams, CompleteParams, PageParams, ResourceParams } from './session-params.ts'
import { recorded } from './recorded-value.ts'
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
export class ReplaySession {
  readonly sync: SyncSession
  readonly #link: SessionLink
  readonly #script: Script
  readonly #missIsNull: boolean
  readonly #failsOnDrift: boolean
  readonly #clock = new WallClock()
  #server: unknown

  constructor(tape: Tape, options: ReplaySessionOptions = {}) {
    const { permissive = false, onUnknown = permissive ? 'null' : 'error' } = options
    const playing = playerOptions({ clock: this.#clock, ...options, tape }, (loosening) =>
      libraryCall('new ReplaySession', loosening),
    )
    this.#script = playing.script
    this.#missIsNull = onUnknown === 'null'
    this.#failsOnDrift = (options.drift ?? (permissive ? 'ignore' : 'error')) === 'error'
    this.#link = new SessionLink(playing)
    this.sync = new SyncSession(
      (method, params, given) => resultOf(this.#now(method, params, given), this.#missIsNull),
      () => this.#initializeNow(),
    )
  }

  /** Opens the session as a client would. It takes what a client takes, and needs none of it. */
  async connect(..._unneeded: readonly unknown[]): Promise<void> {
    await this.initialize()
    if (this.#script.era.era !== 'modern') this.#link.send({ method: 'notifications/initialized' })
  }

  /** The recorded answer; where nobody recorded one, what the rest of the tape shows of the server. */
  async initialize<Result = JsonObject>(): Promise<Result> {
    const result = isInitializeRecorded(this.#script)
      ? await this.#ask('initialize', INITIALIZE)
      : standInForInitialize(this.#script)
    this.#server = result
    return recorded(result)
  }

  async discover<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('server/discover', undefined, options))
  }

  async ping<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('ping', undefined, options))
  }

  /** SDK v1 has a schema in second place, SDK v2 has the options there: both will do. */
  async callTool<Result = JsonObject>(
    params: CallParams,
    schemaOrOptions?: unknown,
    options?: CallOptions,
  ): Promise<Result> {
    return recorded(await this.#ask('tools/call', params, options ?? optionsIn(schemaOrOptions)))
  }

  async listTools<Result = JsonObject>(params?: PageParams, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('tools/list', params, options))
  }

  async readResource<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('resources/read', params, options))
  }

  async listResources<Result = JsonObject>(params?: PageParams, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('resources/list', params, options))
  }

  async listResourceTemplates<Result = JsonObject>(
    params?: PageParams,
    options?: CallOptions,
  ): Promise<Result> {
    return recorded(await this.#ask('resources/templates/list', params, options))
  }

  async subscribeResource<Result = JsonObject>(
    params: ResourceParams,
    options?: CallOptions,
  ): Promise<Result> {
    return recorded(await this.#ask('resources/subscribe', params, options))
  }

  async unsubscribeResource<Result = JsonObject>(
    params: ResourceParams,
    options?: CallOptions,
  ): Promise<Result> {
    return recorded(await this.#ask('resources/unsubscribe', params, options))
  }

  /** The same by the name of its method. */
  subscribe<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Promise<Result> {
    return this.subscribeResource(params, options)
  }

  unsubscribe<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Promise<Result> {
    return this.unsubscribeResource(params, options)
  }

  async listPrompts<Result = JsonObject>(params?: PageParams, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('prompts/list', params, options))
  }

  async getPrompt<Result = JsonObject>(params: CallParams, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('prompts/get', params, options))
  }

  async complete<Result = JsonObject>(params: CompleteParams, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('completion/complete', params, options))
  }

  async setLoggingLevel<Result = JsonObject>(level: string, options?: CallOptions): Promise<Result> {
    return recorded(await this.#ask('logging/setLevel', { level }, options))
  }

  /** Any other request: tasks, extensions, what later revisions add. */
  async request<Result = JsonObject>(
    { method, params }: { readonly method: string; readonly params?: unknown },
    schemaOrOptions?: unknown,
    options?: CallOptions,
  ): Promise<Result> {
    return recorded(await this.#ask(method, params, options ?? optionsIn(schemaOrOptions)))
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
    if (classify({ jsonrpc: '2.0', ...request }).kind !== 'request') throw noRequest()
    let answer: JsonObject | undefined
    this.#link.send(request, ({ value }) => (answer = value))
    return answer ?? throwTooLate(String(member(request, 'method')))
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

  #ask(method: string, params: unknown, options: CallOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted()
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      this.#link.request(method, params, options, (outcome) => {
        try {
          resolve(resultOf(outcome, this.#missIsNull))
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #now(method: string, params: unknown, options: CallOptions = {}): Outcome {
    let found: Outcome | undefined
    this.#link.request(method, params, options, (outcome) => (found = outcome))
    return found ?? throwTooLate(method)
  }

  #initializeNow(): unknown {
    if (!isInitializeRecorded(this.#script)) return standInForInitialize(this.#script)
    return resultOf(this.#now('initialize', INITIALIZE), this.#missIsNull)
  }
}

function optionsIn(value: unknown): CallOptions {
  return isObject(value) && ('onprogress' in value || 'signal' in value) ? recorded(value) : {}
}

function noRequest(): ReelayError {
  return new ReelayError('USAGE', 'handleRequest was not given a request', {
    hint: 'it takes a JSON-RPC request, with an id and a method: a notification has no answer',
  })
}

function throwTooLate(method: string): never {
  throw new ReelayError('USAGE', `${method} was not answered at once`, {
    hint: 'a pace, a delay, a fault or a handler that gives a promise take time: use the call without sync',
  })
}
