import type { RecordedRequest } from '../../match/request-groups.ts'
import { member, type JsonObject } from '../../json/parse.ts'
import { newestSessionRevision } from '../../protocol/revisions/index.ts'
import { driftError, hasDrifted, type Drift } from '../drift.ts'
import { SystemClock } from '../player/clock.ts'
import type { RecordedServer } from '../player/recorded-server.ts'
import { describeServer } from '../player/synthetic-answers.ts'
import { sessionPlayerOptions, type ServeOptions, libraryCallText } from '../serve-options.ts'
import { castRecorded, SessionCalls, SyncSession } from './session-calls.ts'
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
    await this.initialize()
    const { revision = newestSessionRevision() } = this.#recordedServer.revision
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

  /** Returns the JSON-RPC response to a JSON-RPC request. A miss is the error response that a client would get. */
  handleRequest(request: object): JsonObject {
    return this.#client.respond(request)
  }

  /** Recorded requests that have not been sent yet. */
  unconsumedKeys(): readonly RecordedRequest[] {
    return this.#recordedServer.leftOver()
  }

  /** Reports how the run differs from the tape so far. */
  drift(): Drift {
    return this.#client.player.drift()
  }

  /** Discards pending messages. Fails if the run has drifted from the tape, unless `drift` is `ignore`. */
  async close(): Promise<void> {
    this.#clock.stop()
    if (this.#failsOnDrift && hasDrifted(this.drift()))
      throw driftError(this.drift(), this.#recordedServer.redactor)
  }

  #initializeNow(): unknown {
    return isInitializeRecorded(this.#recordedServer)
      ? this.#client.requestSync('initialize', INITIALIZE_PARAMS)
      : syntheticInitializeResult(this.#recordedServer)
  }
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
