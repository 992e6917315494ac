import { ReelayError } from '../../errors.ts'
import type { RecordedRequest } from '../../match/request-groups.ts'
import { member, type JsonObject } from '../../json/parse.ts'
import { classifyMessage } from '../../protocol/message.ts'
import { newestSessionRevision } from '../../protocol/revisions/index.ts'
import { driftError, hasDrifted, type Drift } from '../drift.ts'
import { SystemClock } from '../player/clock.ts'
import type { RecordedServer } from '../player/recorded-server.ts'
import { describeServer } from '../player/synthetic-answers.ts'
import { sessionPlayerOptions, type ServeOptions } from '../serve-options.ts'
import {
  castRecorded,
  SessionCalls,
  SyncSession,
  type SendRequest,
  type SendRequestSync,
} from './session-calls.ts'
import {
  methodNameOf,
  type SessionMessage,
  type MethodOrSchema,
  SessionClient,
  resultOrThrow,
  type SessionCallOutcome,
} from './session-client.ts'
import { libraryCallText } from '../suggested-commands.ts'
import type { Tape } from '../../store/file/read.ts'

// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows what was recorded: naming it here lets a session stand in for a client

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
  readonly #requests: SessionRequests
  readonly #client: SessionClient
  readonly #recordedServer: RecordedServer
  readonly #failsOnDrift: boolean
  readonly #clock: SystemClock
  #initializeResult: unknown

  constructor(tape: Tape, options: ReplaySessionOptions = {}) {
    const { permissive = false, onUnknown = permissive ? 'null' : 'error' } = options
    const clock = new SystemClock()
    const playing = sessionPlayerOptions({ clock, ...options, tape }, (loosening) =>
      libraryCallText('new ReplaySession', loosening),
    )
    const link = new SessionClient(playing)
    const asks = new SessionRequests(link, onUnknown === 'null')
    super(asks.send)
    this.#requests = asks
    this.#client = link
    this.#recordedServer = playing.recordedServer
    this.#failsOnDrift = (options.drift ?? (permissive ? 'ignore' : 'error')) === 'error'
    this.#clock = clock
    this.sync = new SyncSession(asks.sendSync, () => this.#initializeNow())
  }

  /** Opens the session as a client would. It takes what a client takes, and needs none of it. */
  async connect(..._unneeded: readonly unknown[]): Promise<void> {
    await this.initialize()
    const { revision = newestSessionRevision() } = this.#recordedServer.revision
    const { openedNotification } = revision
    if (openedNotification !== undefined) this.#client.send({ method: openedNotification })
  }

  /** The recorded answer; where nobody recorded one, what the rest of the tape shows of the server. */
  async initialize<Result = JsonObject>(): Promise<Result> {
    const result = isInitializeRecorded(this.#recordedServer)
      ? await this.#requests.send('initialize', newestSessionRevision().opening({ info: CLIENT_INFO }).params)
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

  /** Hears the recorded notifications of a method, which come with the calls that set them off. */
  setNotificationHandler(method: MethodOrSchema, handler: (notification: SessionMessage) => void): void {
    this.#client.handle(methodNameOf(method), handler)
  }

  /** Answers what the server asks by a method. Without a handler the client's recorded answer is taken. */
  setRequestHandler(method: MethodOrSchema, handler: (request: SessionMessage) => unknown): void {
    this.#client.handle(methodNameOf(method), handler)
  }

  /** One request object in, one response object out, as on the wire: a miss is the error that a client would get. */
  handleRequest(request: object): JsonObject {
    return this.#requests.respond(request)
  }

  /** What was recorded and not asked for yet. */
  unconsumedKeys(): readonly RecordedRequest[] {
    return this.#recordedServer.leftOver()
  }

  /** What the run has left over or added so far. */
  drift(): Drift {
    return this.#client.player.drift()
  }

  /** Ends what is still to come; fails when the run has drifted from the tape, unless that is to be ignored. */
  async close(): Promise<void> {
    this.#clock.stop()
    if (this.#failsOnDrift && hasDrifted(this.drift()))
      throw driftError(this.drift(), this.#recordedServer.redactor)
  }

  #initializeNow(): unknown {
    return isInitializeRecorded(this.#recordedServer)
      ? this.#requests.sendSync('initialize', newestSessionRevision().opening({ info: CLIENT_INFO }).params)
      : syntheticInitializeResult(this.#recordedServer)
  }
}

/** What a session asks the recorded server, for an answer that may come later or for one that is there at once. */
class SessionRequests {
  readonly #link: SessionClient
  readonly #missIsNull: boolean

  constructor(link: SessionClient, missIsNull: boolean) {
    this.#link = link
    this.#missIsNull = missIsNull
  }

  /** The result, when it has come; rejects with the server's error, and with a miss unless it is to be null. */
  readonly send: SendRequest = (method, params, options = {}) =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted()
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      this.#link.request(method, params, options, (outcome) => {
        try {
          resolve(resultOrThrow(outcome, this.#missIsNull))
        } catch (error) {
          reject(error)
        }
      })
    })

  /** The result without a promise; throws also when it takes time. */
  readonly sendSync: SendRequestSync = (method, params, options = {}) => {
    let found: SessionCallOutcome | undefined
    this.#link.request(method, params, options, (outcome) => (found = outcome))
    return resultOrThrow(found ?? throwNotAnsweredAtOnce(method), this.#missIsNull)
  }

  /** The whole response to a whole request, as it stands: an error is a response too. */
  respond(request: object): JsonObject {
    if (classifyMessage({ jsonrpc: '2.0', ...request }).kind !== 'request') throw notARequest()
    let answer: JsonObject | undefined
    this.#link.send(request, ({ value }) => (answer = value))
    return answer ?? throwNotAnsweredAtOnce(String(member(request, 'method')))
  }
}

function throwNotAnsweredAtOnce(method: string): never {
  throw new ReelayError('USAGE', `${method} was not answered at once`, {
    hint: 'a pace, a delay, a fault or a handler that gives a promise take time: use the call without sync',
  })
}

function notARequest(): ReelayError {
  return new ReelayError('USAGE', 'handleRequest was not given a request', {
    hint: 'it takes a JSON-RPC request, with an id and a method: a notification has no answer',
  })
}

const CLIENT_INFO = { name: 'reelay', version: '1' }

/** Whether the tape has an answer to `initialize`. */
function isInitializeRecorded(recordedServer: RecordedServer): boolean {
  return recordedServer.turnsOfMethod('initialize').some(({ response }) => response !== undefined)
}

/** The result of `initialize` for a tape without one, from what the rest of the tape shows of the server. */
function syntheticInitializeResult({ turns }: RecordedServer): JsonObject {
  const revision = newestSessionRevision()
  return revision.openingResult(describeServer(turns, revision.version))
}
