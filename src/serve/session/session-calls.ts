// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows what was recorded: naming it here lets a session stand in for a client
import { isObject, type JsonObject } from '../../protocol/message.ts'
import { castRecorded } from './recorded-value.ts'
import type { CallOptions, CallParams, CompleteParams, PageParams, ResourceParams } from './session-params.ts'

/** Asks the recorded server, and has the answer when the promise is kept. */
export type SendRequest = (method: string, params: unknown, options?: CallOptions) => Promise<unknown>

/** The requests that a client of the SDK has a call for, each with the method and the params that it stands for. */
export class SessionCalls {
  readonly #send: SendRequest

  constructor(ask: SendRequest) {
    this.#send = ask
  }

  async discover<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('server/discover', undefined, options))
  }

  async ping<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('ping', undefined, options))
  }

  /** SDK v1 has a schema in second place, SDK v2 has the options there: both will do. */
  async callTool<Result = JsonObject>(
    params: CallParams,
    schemaOrOptions?: unknown,
    options?: CallOptions,
  ): Promise<Result> {
    return castRecorded(await this.#send('tools/call', params, options ?? optionsIn(schemaOrOptions)))
  }

  async listTools<Result = JsonObject>(params?: PageParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('tools/list', params, options))
  }

  async readResource<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('resources/read', params, options))
  }

  async listResources<Result = JsonObject>(params?: PageParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('resources/list', params, options))
  }

  async listResourceTemplates<Result = JsonObject>(
    params?: PageParams,
    options?: CallOptions,
  ): Promise<Result> {
    return castRecorded(await this.#send('resources/templates/list', params, options))
  }

  async subscribeResource<Result = JsonObject>(
    params: ResourceParams,
    options?: CallOptions,
  ): Promise<Result> {
    return castRecorded(await this.#send('resources/subscribe', params, options))
  }

  async unsubscribeResource<Result = JsonObject>(
    params: ResourceParams,
    options?: CallOptions,
  ): Promise<Result> {
    return castRecorded(await this.#send('resources/unsubscribe', params, options))
  }

  /** The same by the name of its method. */
  subscribe<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Promise<Result> {
    return this.subscribeResource(params, options)
  }

  unsubscribe<Result = JsonObject>(params: ResourceParams, options?: CallOptions): Promise<Result> {
    return this.unsubscribeResource(params, options)
  }

  async listPrompts<Result = JsonObject>(params?: PageParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('prompts/list', params, options))
  }

  async getPrompt<Result = JsonObject>(params: CallParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('prompts/get', params, options))
  }

  async complete<Result = JsonObject>(params: CompleteParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('completion/complete', params, options))
  }

  async setLoggingLevel<Result = JsonObject>(level: string, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('logging/setLevel', { level }, options))
  }

  /** Any other request: tasks, extensions, what later revisions add. */
  async request<Result = JsonObject>(
    { method, params }: { readonly method: string; readonly params?: unknown },
    schemaOrOptions?: unknown,
    options?: CallOptions,
  ): Promise<Result> {
    return castRecorded(await this.#send(method, params, options ?? optionsIn(schemaOrOptions)))
  }
}

function optionsIn(value: unknown): CallOptions {
  return isObject(value) && ('onprogress' in value || 'signal' in value) ? castRecorded(value) : {}
}
