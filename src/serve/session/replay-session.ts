import { ReelayError } from '../../errors.ts'
import { toPlainRequest, type RecordedRequest } from '../../match/request-groups.ts'
import { member, type JsonObject } from '../../json/parse.ts'
import type { Era } from '../../protocol/revisions/revision.ts'
import { newestSessionRevision } from '../../protocol/revisions/index.ts'
import { driftError, hasDrifted, type Drift } from '../drift.ts'
import { SystemClock } from '../player/clock.ts'
import type { RecordedServer } from '../player/recorded-server.ts'
import { describeServer } from '../player/synthetic-answers.ts'
import { sessionPlayerOptions, type ServeOptions, libraryCallText } from '../serve-options.ts'
import { castRecorded, SessionCalls, SyncSession, type CallOptions } from './session-calls.ts'
import {
  CLIENT_INFO,
  methodNameOf,
  SessionClient,
  type MethodOrSchema,
  type SessionMessage,
} from './session-client.ts'
import type { Tape } from '../../store/file/read.ts'

// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows the recorded type, and naming it lets a session replace a client

export interface ReplaySessionOptions extends Omit<ServeOptions, 'tape'> {
  /** The result of a request that is not on the tape: an error, or `null`. The default is `error`, with `permissive` it is `null`. */
  readonly onUnknown?: 'error' | 'null'
  /** `error`: `close` fails if the run has drifted from the tape. The default is `error`, with `permissive` it is `ignore`. */
  readonly drift?: 'error' | 'ignore'
}

/**
 * Replaces a client of the SDK: it has the same methods and results, and answers them from a tape without a server, a
 * transport or the SDK. `sync` has the same methods without promises.
 *
 * @example
 * const session = new ReplaySession(await loadTape('search.tape.jsonl'))
 * const { content } = await session.callTool({ name: 'search', arguments: { q: 'reel' } })
 * const tools = session.sync.listTools()
 * console.log(session.unconsumedKeys()) // recorded, and not requested yet
 */
export class ReplaySession extends SessionCalls {
  readonly sync: SyncSession
  readonly #client: SessionClient
  readonly #recordedServer: RecordedServer
  readonly #failsOnDrift: boolean
  readonly #clock: SystemClock
  #initializeResult: unknown
  #discoverResult: unknown
  #isClosed = false
  /** Called once, when the session is closed. */
  onclose: (() => void) | undefined

  constructor(tape: Tape, options: ReplaySessionOptions = {}) {
    const { permissive = false, onUnknown = permissive ? 'null' : 'error' } = options
    const clock = new SystemClock()
    const setup = sessionPlayerOptions(
      { clock, ...options, tape },
      (loosening) => libraryCallText('new ReplaySession', loosening),
      { repeatsLists: false },
    )
    const client = new SessionClient(setup, { missIsNull: onUnknown === 'null' })
    super(client.request)
    this.#client = client
    this.#recordedServer = setup.recordedServer
    this.#failsOnDrift = (options.drift ?? (permissive ? 'ignore' : 'error')) === 'error'
    this.#clock = clock
    this.sync = new SyncSession(client.requestSync, () => this.#initializeNow())
  }

  /** Opens the session as a client would. The arguments of a client's `connect` are accepted and ignored. */
  async connect(..._unneeded: readonly unknown[]): Promise<void> {
    const { revision = newestSessionRevision() } = this.#recordedServer.revision
    if (revision.openingMethod === 'server/discover') await this.discover()
    await this.initialize()
    const { openedNotification } = revision
    if (openedNotification !== undefined) this.#client.send({ method: openedNotification })
  }

  /** Returns the recorded result, or if there is none, what the rest of the tape shows about the server. */
  async initialize<Result = JsonObject>(): Promise<Result> {
    const result = isInitializeRecorded(this.#recordedServer)
      ? await this.#client.request('initialize', INITIALIZE_PARAMS)
      : syntheticInitializeResult(this.#recordedServer)
    this.#initializeResult = result
    return castRecorded(result)
  }

  override async discover<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    this.#discoverResult = await super.discover(options)
    return castRecorded(this.#discoverResult)
  }

  /** The protocol version of the recorded session, after `connect`. */
  getNegotiatedProtocolVersion(): string | undefined {
    const { version } = this.#recordedServer.revision
    return version ?? castRecorded(member(this.#initializeResult, 'protocolVersion'))
  }

  /** `legacy` for a session that `initialize` opened, `modern` for 2026-07-28. */
  getProtocolEra(): Era {
    return (this.#recordedServer.revision.revision ?? newestSessionRevision()).era
  }

  /** The result of `server/discover`, if it was requested. */
  getDiscoverResult<Result = JsonObject>(): Result | undefined {
    return castRecorded(this.#discoverResult)
  }

  getServerCapabilities<Result = JsonObject>(): Result | undefined {
    return castRecorded(member(this.#initializeResult, 'capabilities'))
  }

  getServerVersion<Result = JsonObject>(): Result | undefined {
    return castRecorded(member(this.#initializeResult, 'serverInfo'))
  }

  getInstructions(): string | undefined {
    return castRecorded(member(this.#initializeResult, 'instructions'))
  }

  /** Handles the recorded notifications of a method. They arrive with the calls that cause them. */
  setNotificationHandler(method: MethodOrSchema, handler: (notification: SessionMessage) => void): void {
    this.#client.handle(methodNameOf(method), handler)
  }

  /** Answers the server's requests of a method. Without a handler, the recorded answer is used. */
  setRequestHandler(method: MethodOrSchema, handler: (request: SessionMessage) => unknown): void {
    this.#client.handle(methodNameOf(method), handler)
  }

  removeNotificationHandler(method: string): void {
    this.#client.removeHandler(method)
  }

  removeRequestHandler(method: string): void {
    this.#client.removeHandler(method)
  }

  /** Handles recorded notifications that have no handler of their own. */
  get fallbackNotificationHandler(): ((notification: SessionMessage) => unknown) | undefined {
    return this.#client.fallbackNotificationHandler
  }

  set fallbackNotificationHandler(handler: ((notification: SessionMessage) => unknown) | undefined) {
    this.#client.fallbackNotificationHandler = handler
  }

  /** Answers requests of the server that have no handler of their own, instead of the recorded answer. */
  get fallbackRequestHandler(): ((request: SessionMessage) => unknown) | undefined {
    return this.#client.fallbackRequestHandler
  }

  set fallbackRequestHandler(handler: ((request: SessionMessage) => unknown) | undefined) {
    this.#client.fallbackRequestHandler = handler
  }

  /** Fails if there is a handler for the method. */
  assertCanSetRequestHandler(method: string): void {
    if (this.#client.hasHandler(method))
      throw new ReelayError('USAGE', `there is already a handler for ${method}`, {
        hint: 'call removeRequestHandler first',
      })
  }

  /** A session opens no subscriptions of its own. */
  get autoOpenedSubscription(): undefined {
    return undefined
  }

  /** Gets errors that have no caller, such as those of notification handlers. */
  get onerror(): ((error: Error) => void) | undefined {
    return this.#client.reportError
  }

  set onerror(handler: ((error: Error) => void) | undefined) {
    this.#client.reportError = handler
  }

  /** Sends a notification to the recorded server. */
  async notification(notification: { readonly method: string; readonly params?: unknown }): Promise<void> {
    this.#client.send(notification)
  }

  sendRootsListChanged(): Promise<void> {
    return this.notification({ method: 'notifications/roots/list_changed' })
  }

  /** A session has no transport. */
  get transport(): undefined {
    return undefined
  }

  /** Accepted and ignored, because the recorded server has already decided. */
  registerCapabilities(..._unneeded: readonly unknown[]): void {}

  setVersionNegotiation(..._unneeded: readonly unknown[]): void {}

  /** The task calls of SDK v1 under their experimental name. */
  get experimental(): {
    readonly tasks: Pick<ReplaySession, 'getTask' | 'getTaskResult' | 'listTasks' | 'cancelTask'>
  } {
    return { tasks: this }
  }

  /** Fails: a session answers calls one by one. */
  listen(..._unneeded: readonly unknown[]): never {
    throw needsTransport('listen')
  }

  requestStream(..._unneeded: readonly unknown[]): never {
    throw needsTransport('requestStream')
  }

  /** Returns the JSON-RPC response to a JSON-RPC request. A miss is the error response that a client would get. */
  handleRequest(request: object): JsonObject {
    return this.#client.respond(request)
  }

  /** Recorded requests that have not been sent yet. */
  unconsumedKeys(): readonly RecordedRequest[] {
    return this.#recordedServer.leftOver().map(toPlainRequest)
  }

  /** Reports how the run differs from the tape so far. */
  drift(): Drift {
    return this.#client.player.drift()
  }

  /** Discards pending messages. Fails if the run has drifted from the tape, unless `drift` is `ignore`. */
  async close(): Promise<void> {
    this.#clock.stop()
    if (!this.#isClosed) {
      this.#isClosed = true
      this.onclose?.()
    }
    if (this.#failsOnDrift && hasDrifted(this.drift()))
      throw driftError(this.drift(), this.#recordedServer.redactor)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #initializeNow(): unknown {
    return isInitializeRecorded(this.#recordedServer)
      ? this.#client.requestSync('initialize', INITIALIZE_PARAMS)
      : syntheticInitializeResult(this.#recordedServer)
  }
}

function needsTransport(name: string): ReelayError {
  return new ReelayError('USAGE', `a ReplaySession has no ${name}`, {
    hint: 'connect a Client of the SDK to replayTransport(tape), and call it there',
  })
}

const INITIALIZE_PARAMS: unknown = newestSessionRevision().opening({ info: CLIENT_INFO }).params

function isInitializeRecorded(recordedServer: RecordedServer): boolean {
  return recordedServer.turnsOfMethod('initialize').some(({ response }) => response !== undefined)
}

/** Returns a result of `initialize` for a tape without one, from what the rest of the tape shows about the server. */
function syntheticInitializeResult({ turns }: RecordedServer): JsonObject {
  const revision = newestSessionRevision()
  return revision.openingResult(describeServer(turns, revision.version))
}
