import { ReelayError } from '../../errors.ts'
import { parseJson, isObject, member, type JsonObject } from '../../json/parse.ts'
import { describeRequest } from '../../match/describe-request.ts'
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
import { SessionPlayer, type SessionPlayerSetup } from '../player/session-player.ts'
import { castRecorded, type CallOptions } from './session-calls.ts'

export type SessionCallOutcome =
  | { readonly kind: 'answered'; readonly response: Response; readonly value: JsonObject }
  | { readonly kind: 'missed'; readonly miss: Miss; readonly value: JsonObject }

type SessionHandler = (heard: SessionMessage) => unknown

/** A client of the recorded server without a wire between them: what needs no time is answered before the call returns. */
export class SessionClient {
  readonly player: SessionPlayer
  readonly #requestMeta: JsonObject
  readonly #pending = new Map<string, (outcome: SessionCallOutcome) => void>()
  readonly #progress = new Map<unknown, NonNullable<CallOptions['onprogress']>>()
  readonly #handlers = new Map<string, SessionHandler>()
  #missed: Miss | undefined
  #count = 0

  constructor(options: Omit<SessionPlayerSetup, 'isAnsweredByTape'>) {
    const { revision } = options.recordedServer.revision
    this.#requestMeta = revision?.requestMeta({ info: CLIENT_INFO }) ?? {}
    this.player = new SessionPlayer({
      ...options,
      send: (text) => this.#receive(parseJson(text)),
      onMiss: (miss) => {
        this.#missed = miss
        options.onMiss?.(miss)
      },
      isAnsweredByTape: (method) => !this.#handlers.has(method),
    })
    this.player.start()
  }

  /** Is told what the server tells by this method, or answers what it asks. */
  handle(method: string, handler: SessionHandler): void {
    this.#handlers.set(method, handler)
  }

  request(
    method: string,
    params: unknown,
    { onprogress, signal }: CallOptions,
    settle: (outcome: SessionCallOutcome) => void,
  ): void {
    const id = `session-${++this.#count}`
    if (onprogress !== undefined) this.#progress.set(id, onprogress)
    const sent = this.#withMeta(params, onprogress === undefined ? {} : { [META_KEYS.progressToken]: id })
    const give = (outcome: SessionCallOutcome): void => {
      this.#progress.delete(id)
      settle(outcome)
    }
    this.send({ id, method, ...(sent !== undefined && { params: sent }) }, give)
    signal?.addEventListener('abort', () => this.#cancel(id), { once: true })
  }

  /** Sends a message as it stands; its answer, if it gets one, is given to `settle`. */
  send(message: object, settle?: (outcome: SessionCallOutcome) => void): void {
    const id = member(message, 'id')
    if (settle !== undefined && isId(id)) this.#pending.set(idKey(id), settle)
    this.player.handleText(JSON.stringify({ jsonrpc: '2.0', ...message }))
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
    this.#handlers.get(method)?.({ method, params })
  }

  #answer(id: Id, method: string, params: unknown): void | Promise<void> {
    const answer = (result: unknown): void => this.send({ id, result })
    const refuse = (thrown: unknown): void => this.send({ id, error: errorOf(thrown) })
    try {
      const result = this.#handlers.get(method)?.({ method, params })
      return result instanceof Promise ? result.then(answer, refuse) : answer(result)
    } catch (thrown) {
      return refuse(thrown)
    }
  }
}

/** The result of an answer; throws what the server answered with, and a miss unless it is to be null. */
export function resultOrThrow(outcome: SessionCallOutcome, missIsNull: boolean): unknown {
  if (outcome.kind === 'missed') {
    if (missIsNull && outcome.miss.reason !== 'ANSWER_DRIFT') return null
    throw notRecorded(outcome.miss)
  }
  const { outcome: answer } = outcome.response
  if ('error' in answer) throw new ServerError(answer.error)
  return answer.result
}

function notRecorded({ request, reason, why, fixes, tape }: Miss): ReelayError {
  const fix = fixes.find(({ kind }) => kind === 'run')
  const hint = fix === undefined ? 'record it, or pass { permissive: true }' : `${fix.command} accepts it`
  return new ReelayError(
    'CALL_NOT_RECORDED',
    `${tape} has no answer to ${describeRequest(request, 400)}: ${reason}: ${why}`,
    { hint },
  )
}

const CLIENT_INFO = { name: 'reelay', version: '1' }

/** What an SDK's client tells of progress: the token is its own affair. */
function progressIn(params: unknown): Parameters<NonNullable<CallOptions['onprogress']>>[0] {
  const { [META_KEYS.progressToken]: _, ...progress } = isObject(params) ? params : {}
  return castRecorded(progress)
}

function errorOf(thrown: unknown): JsonObject {
  const code = metaValue({ _meta: thrown }, 'code')
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: typeof code === 'number' ? code : INTERNAL_ERROR, message }
}

/** An error that the recorded server answered with, thrown where a client of the SDK would throw it. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** The JSON-RPC code. */
  readonly code: number
  readonly data: unknown
  /** The whole error object, as recorded. */
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

/** What a handler is given. */
export interface SessionMessage {
  readonly method: string
  readonly params: unknown
}

export function methodNameOf(name: MethodOrSchema): string {
  const literal = typeof name === 'string' ? undefined : propertyOf(name.shape, 'method')
  const method = typeof name === 'string' ? name : propertyOf(literal, 'value')
  if (typeof method === 'string') return method
  throw new ReelayError('USAGE', 'a handler is set for a method, and this names none', {
    hint: "name it, as in setNotificationHandler('notifications/message', …)",
  })
}

// Schemas have their properties by way of getters, also inherited ones.
function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (member(value, name) ?? Reflect.get(value, name))
    : undefined
}
