import { ReelayError } from '../../errors.ts'
import { parseJson, isObject, member, type JsonObject } from '../../json/parse.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { requestKey } from '../../match/request-key.ts'
import type { Miss } from '../../match/miss/miss.ts'
import {
  idKey,
  isId,
  type Id,
  classifyMessage,
  type Response,
  META_KEYS,
  metaValue,
  INTERNAL_ERROR,
} from '../../protocol/message.ts'
import type { RecordedServer } from '../player/recorded-server.ts'
import { SessionPlayer, type SessionPlayerSetup } from '../player/session-player.ts'
import { castRecorded, type CallOptions, type SendRequest, type SendRequestSync } from './session-calls.ts'

type SessionCallOutcome =
  | { readonly kind: 'answered'; readonly response: Response; readonly value: JsonObject }
  | { readonly kind: 'missed'; readonly miss: Miss; readonly value: JsonObject }

type SessionHandler = (message: SessionMessage) => unknown

/** A client of the recorded server in the same process. A call that needs no time is answered before it returns. */
export class SessionClient {
  readonly player: SessionPlayer
  readonly #missIsNull: boolean
  readonly #requestMeta: JsonObject
  readonly #pending = new Map<string, (outcome: SessionCallOutcome) => void>()
  readonly #progress = new Map<unknown, NonNullable<CallOptions['onprogress']>>()
  readonly #handlers = new Map<string, SessionHandler>()
  readonly #recordedServer: RecordedServer
  /** Handles notifications that have no handler of their own. */
  fallbackNotificationHandler: SessionHandler | undefined
  /** Answers requests that have no handler of their own. */
  fallbackRequestHandler: SessionHandler | undefined
  /** Called with the error of a notification handler, which has no caller that could get it. */
  reportError: ((error: Error) => void) | undefined
  #missed: Miss | undefined
  #count = 0

  constructor(setup: SessionPlayerSetup, { missIsNull }: { readonly missIsNull: boolean }) {
    const { revision } = setup.recordedServer.revision
    this.#missIsNull = missIsNull
    this.#recordedServer = setup.recordedServer
    this.#requestMeta = revision?.requestMeta({ info: CLIENT_INFO }) ?? {}
    this.player = new SessionPlayer({
      ...setup,
      send: (text) => this.#receive(parseJson(text)),
      onMiss: (miss) => {
        this.#missed = miss
        setup.onMiss?.(miss)
      },
      isAnsweredByTape: (method) => this.requestHandler(method) === undefined,
    })
    this.player.start()
  }

  /** Sets the handler for notifications or requests of a method. */
  handle(method: string, handler: SessionHandler): void {
    this.#handlers.set(method, handler)
  }

  /** The handler that answers requests of a method, if there is one. */
  requestHandler(method: string): SessionHandler | undefined {
    return this.#handlers.get(method) ?? this.fallbackRequestHandler
  }

  hasHandler(method: string): boolean {
    return this.#handlers.has(method)
  }

  removeHandler(method: string): void {
    this.#handlers.delete(method)
  }

  /**
   * Resolves to the result. Rejects with the error of the server, or with a miss unless that is to be `null`. If the server
   * needs input first (2026-07-28), its questions are answered and the request is sent again.
   */
  readonly request: SendRequest = async (method, params, options = {}) => {
    let result = await this.#requestOnce(method, params, options)
    for (let round = 1; isInputRequired(result); round++) {
      const answers = this.#inputResponses(method, params, result, round)
      const responses = await Promise.all(answers.map(async ([key, answer]) => [key, await answer] as const))
      result = await this.#requestOnce(method, retryParams(params, result, responses), options)
    }
    return result
  }

  readonly #requestOnce: SendRequest = (method, params, options = {}) =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted()
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      this.#call(method, params, options, (outcome) => {
        try {
          resolve(this.#resultOrThrow(outcome))
        } catch (error) {
          reject(error)
        }
      })
    })

  /** Like `request`, without a promise. It also throws if the response takes time. */
  readonly requestSync: SendRequestSync = (method, params, options = {}) => {
    let result = this.#requestOnceSync(method, params, options)
    for (let round = 1; isInputRequired(result); round++) {
      const responses = this.#inputResponses(method, params, result, round)
      if (responses.some(([, answer]) => answer instanceof Promise)) return throwNotAnsweredAtOnce(method)
      result = this.#requestOnceSync(method, retryParams(params, result, responses), options)
    }
    return result
  }

  readonly #requestOnceSync: SendRequestSync = (method, params, options = {}) => {
    let found: SessionCallOutcome | undefined
    this.#call(method, params, options, (outcome) => (found = outcome))
    return this.#resultOrThrow(found ?? throwNotAnsweredAtOnce(method))
  }

  /** Answers each question of the server: with its handler, or else as the recorded client did. */
  #inputResponses(
    method: string,
    params: unknown,
    result: JsonObject,
    round: number,
  ): readonly (readonly [key: string, answer: unknown])[] {
    if (round > MAX_ROUNDS) throw tooManyRounds(method)
    const questions = Object.entries(isObject(result['inputRequests']) ? result['inputRequests'] : {})
    const isHandled = (question: unknown): boolean =>
      this.requestHandler(String(member(question, 'method'))) !== undefined
    const recorded = questions.every(([, question]) => isHandled(question))
      ? undefined
      : this.#recordedInputResponses(method, params, result)
    return questions.map(([key, question]) => {
      const asked = String(member(question, 'method'))
      const handler = this.requestHandler(asked)
      if (handler !== undefined) return [key, handler({ method: asked, params: member(question, 'params') })]
      const answer = member(recorded, key)
      if (answer === undefined) throw noAnswer(method, asked)
      return [key, answer]
    })
  }

  /** What the recorded client answered: it sent the request again with the state that the server had given it. */
  #recordedInputResponses(method: string, params: unknown, result: JsonObject): unknown {
    const expected = requestKey({ server: '', method, params: retryParams(params, result, []) })
    for (const { trigger } of this.#recordedServer.turnsOfMethod(method)) {
      if (trigger?.message.kind !== 'request' || !isObject(trigger.message.params)) continue
      const { inputResponses, _meta, ...rest } = trigger.message.params
      const isRetry = requestKey({ server: '', method, params: rest }) === expected
      if (isRetry && inputResponses !== undefined) return inputResponses
    }
    return undefined
  }

  /** Returns the whole response to a request object. An error is a response too. */
  respond(request: object): JsonObject {
    if (classifyMessage({ jsonrpc: '2.0', ...request }).kind !== 'request') throw notARequest()
    let answer: JsonObject | undefined
    this.send(request, ({ value }) => (answer = value))
    return answer ?? throwNotAnsweredAtOnce(String(member(request, 'method')))
  }

  /** Sends a message unchanged. If it is answered, `settle` gets the outcome. */
  send(message: object, settle?: (outcome: SessionCallOutcome) => void): void {
    const id = member(message, 'id')
    if (settle !== undefined && isId(id)) this.#pending.set(idKey(id), settle)
    this.player.handleText(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #call(
    method: string,
    params: unknown,
    { onprogress, signal }: CallOptions,
    settle: (outcome: SessionCallOutcome) => void,
  ): void {
    const id = `session-${++this.#count}`
    if (onprogress !== undefined) this.#progress.set(id, onprogress)
    const sent = this.#withMeta(params, onprogress === undefined ? {} : { [META_KEYS.progressToken]: id })
    this.send({ id, method, ...(sent !== undefined && { params: sent }) }, (outcome) => {
      this.#progress.delete(id)
      settle(outcome)
    })
    signal?.addEventListener('abort', () => this.#cancel(id), { once: true })
  }

  #resultOrThrow(outcome: SessionCallOutcome): unknown {
    if (outcome.kind === 'missed') {
      if (this.#missIsNull && outcome.miss.reason !== 'ANSWER_DRIFT') return null
      throw notRecorded(outcome.miss)
    }
    const { outcome: answer } = outcome.response
    if ('error' in answer) throw new ServerError(answer.error)
    return answer.result
  }

  #cancel(id: Id): void {
    if (!this.#pending.delete(idKey(id))) return
    this.send({ method: 'notifications/cancelled', params: { requestId: id } })
  }

  #withMeta(params: unknown, own: JsonObject): unknown {
    const meta = { ...this.#requestMeta, ...own }
    if (Object.keys(meta).length === 0) return params
    const given = isObject(params) ? params : {}
    const before = member(given, '_meta')
    return { ...given, _meta: { ...meta, ...(isObject(before) ? before : {}) } }
  }

  #receive(value: unknown): void {
    const message = classifyMessage(value)
    if (message.kind === 'response' && isObject(value)) this.#receiveResponse(message, value)
    else if (message.kind === 'notification') this.#notify(message.method, message.params)
    else if (message.kind === 'request') void this.#answer(message.id, message.method, message.params)
  }

  #receiveResponse(response: Response, value: JsonObject): void {
    const miss = this.#missed
    this.#missed = undefined
    const key = response.id === null ? '' : idKey(response.id)
    const settle = this.#pending.get(key)
    this.#pending.delete(key)
    settle?.(miss === undefined ? { kind: 'answered', response, value } : { kind: 'missed', miss, value })
  }

  #notify(method: string, params: unknown): void {
    const onprogress = this.#progress.get(member(params, META_KEYS.progressToken))
    if (method === 'notifications/progress' && onprogress !== undefined) return onprogress(progressIn(params))
    const handler = this.#handlers.get(method) ?? this.fallbackNotificationHandler
    try {
      handler?.({ method, params })
    } catch (thrown) {
      if (this.reportError === undefined) throw thrown
      this.reportError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }

  #answer(id: Id, method: string, params: unknown): void | Promise<void> {
    const answer = (result: unknown): void => this.send({ id, result })
    const reject = (thrown: unknown): void => this.send({ id, error: errorOf(thrown) })
    try {
      const result = this.requestHandler(method)?.({ method, params })
      return result instanceof Promise ? result.then(answer, reject) : answer(result)
    } catch (thrown) {
      return reject(thrown)
    }
  }
}

const MAX_ROUNDS = 20

function isInputRequired(result: unknown): result is JsonObject {
  return isObject(result) && result['resultType'] === 'input_required'
}

/** The params of a request that is sent again with answers. The state of the server goes back unchanged. */
function retryParams(
  params: unknown,
  { requestState }: JsonObject,
  responses: readonly (readonly [key: string, answer: unknown])[],
): JsonObject {
  return {
    ...(isObject(params) ? params : {}),
    ...(responses.length > 0 && { inputResponses: Object.fromEntries(responses) }),
    ...(requestState !== undefined && { requestState }),
  }
}

function noAnswer(method: string, asked: string): ReelayError {
  return new ReelayError(
    'CALL_NOT_RECORDED',
    `the server asks for ${asked} during ${method}, and the tape has no answer`,
    {
      hint: `answer it yourself: session.setRequestHandler(${JSON.stringify(asked)}, …)`,
    },
  )
}

function tooManyRounds(method: string): ReelayError {
  return new ReelayError('CALL_NOT_RECORDED', `${method} asks for input more than ${MAX_ROUNDS} times`, {
    hint: 'the handlers may answer differently than the recorded client did',
  })
}

function throwNotAnsweredAtOnce(method: string): never {
  throw new ReelayError('USAGE', `${method} was not answered at once`, {
    hint: 'a pace, a delay, a fault or a handler that returns a promise takes time: use the method without sync',
  })
}

function notARequest(): ReelayError {
  return new ReelayError('USAGE', 'the argument of handleRequest is not a JSON-RPC request', {
    hint: 'pass an object with an id and a method; a notification has no response',
  })
}

function notRecorded({ request, reason, why, fixes, tape }: Miss): ReelayError {
  const fix = fixes.find(({ kind }) => kind === 'run')
  const hint = fix === undefined ? 'record it, or pass { permissive: true }' : `${fix.command} accepts it`
  return new ReelayError(
    'CALL_NOT_RECORDED',
    `${tape} has no response to ${describeRequest(request, 400)}: ${reason}: ${why}`,
    { hint },
  )
}

export const CLIENT_INFO = { name: 'reelay', version: '1' }

/** Returns the progress as an SDK client reports it, without the token. */
function progressIn(params: unknown): Parameters<NonNullable<CallOptions['onprogress']>>[0] {
  const { [META_KEYS.progressToken]: _, ...progress } = isObject(params) ? params : {}
  return castRecorded(progress)
}

function errorOf(thrown: unknown): JsonObject {
  const code = metaValue({ _meta: thrown }, 'code')
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: typeof code === 'number' ? code : INTERNAL_ERROR, message }
}

/** A recorded error response, thrown where a client of the SDK would throw it. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** The JSON-RPC code. */
  readonly code: number
  readonly data: unknown
  /** The whole recorded error object. */
  readonly error: JsonObject

  constructor(error: unknown) {
    const message = member(error, 'message')
    super(typeof message === 'string' ? message : 'the recorded server answered with an error')
    this.code = Number(member(error, 'code'))
    this.data = member(error, 'data')
    this.error = isObject(error) ? error : {}
  }
}

/** A method by its name, as in SDK v2, or by the schema of its messages, as in SDK v1. */
export type MethodOrSchema = string | { readonly shape: object }

/** The argument of a handler. */
export interface SessionMessage {
  readonly method: string
  readonly params: unknown
}

export function methodNameOf(name: MethodOrSchema): string {
  const literal = typeof name === 'string' ? undefined : propertyOf(name.shape, 'method')
  const method = typeof name === 'string' ? name : propertyOf(literal, 'value')
  if (typeof method === 'string') return method
  throw new ReelayError('USAGE', 'the first argument of a handler is not a method or a schema', {
    hint: "pass the name of a method: setNotificationHandler('notifications/message', …)",
  })
}

// Schemas may define their properties as getters, and inherit them.
function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (member(value, name) ?? Reflect.get(value, name))
    : undefined
}
