// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows what was recorded: naming it here lets a session stand in for a client
import { isObject, type JsonObject } from '../../wire/message.ts'
import { recorded } from './recorded-value.ts'
import type { CallOptions, CallParams, CompleteParams, PageParams, ResourceParams } from './session-params.ts'

/** Asks the recorded server, and has the answer when the promise is kept. */
export type Ask = (method: string, params: unknown, options?: CallOptions) => Promise<unknown>

/** The requests that a client of the SDK has a call for, each with the method and the params that it stands for. */
export class SessionCalls {
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
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
}

function optionsIn(value: unknown): CallOptions {
  return isObject(value) && ('onprogress' in value || 'signal' in value) ? recorded(value) : {}
}
