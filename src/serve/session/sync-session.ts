// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows what was recorded: naming it here lets a session stand in for a client
import type { JsonObject } from '../../protocol/message.ts'
import { castRecorded } from './recorded-value.ts'
import type { CallOptions, CallParams, CompleteParams, PageParams, ResourceParams } from './session-params.ts'

/** Asks the recorded server, and has the answer when it returns. */
export type SendRequestSync = (method: string, params: unknown, options?: CallOptions) => unknown

/**
 * The calls of a session, answered before they return. What takes time cannot be: a pace, a delay, or a handler that gives a
 * promise make a call fail with `USAGE`.
 */
export class SyncSession {
  readonly #send: SendRequestSync
  readonly #initialize: () => unknown

  constructor(ask: SendRequestSync, initialize: () => unknown) {
    this.#send = ask
    this.#initialize = initialize
  }

  initialize<Result = JsonObject>(): Result {
    return castRecorded(this.#initialize())
  }

  discover<Result = JsonObject>(): Result {
    return castRecorded(this.#send('server/discover', undefined))
  }

  ping<Result = JsonObject>(): Result {
    return castRecorded(this.#send('ping', undefined))
  }

  callTool<Result = JsonObject>(params: CallParams, options?: CallOptions): Result {
    return castRecorded(this.#send('tools/call', params, options))
  }

  listTools<Result = JsonObject>(params?: PageParams): Result {
    return castRecorded(this.#send('tools/list', params))
  }

  readResource<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Result {
    return castRecorded(this.#send('resources/read', params, options))
  }

  listResources<Result = JsonObject>(params?: PageParams): Result {
    return castRecorded(this.#send('resources/list', params))
  }

  listResourceTemplates<Result = JsonObject>(params?: PageParams): Result {
    return castRecorded(this.#send('resources/templates/list', params))
  }

  subscribeResource<Result = JsonObject>(params: ResourceParams): Result {
    return castRecorded(this.#send('resources/subscribe', params))
  }

  unsubscribeResource<Result = JsonObject>(params: ResourceParams): Result {
    return castRecorded(this.#send('resources/unsubscribe', params))
  }

  subscribe<Result = JsonObject>(params: ResourceParams): Result {
    return this.subscribeResource(params)
  }

  unsubscribe<Result = JsonObject>(params: ResourceParams): Result {
    return this.unsubscribeResource(params)
  }

  listPrompts<Result = JsonObject>(params?: PageParams): Result {
    return castRecorded(this.#send('prompts/list', params))
  }

  getPrompt<Result = JsonObject>(params: CallParams, options?: CallOptions): Result {
    return castRecorded(this.#send('prompts/get', params, options))
  }

  complete<Result = JsonObject>(params: CompleteParams): Result {
    return castRecorded(this.#send('completion/complete', params))
  }

  setLoggingLevel<Result = JsonObject>(level: string): Result {
    return castRecorded(this.#send('logging/setLevel', { level }))
  }

  /** Any other request: tasks, extensions, what later revisions add. */
  request<Result = JsonObject>(call: { readonly method: string; readonly params?: unknown }): Result {
    return castRecorded(this.#send(call.method, call.params))
  }
}
