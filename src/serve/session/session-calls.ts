import { isObject, type JsonObject } from '../../json/parse.ts'

// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller knows the recorded type, and naming it lets a session replace a client

/** Sends a request to the recorded server and resolves to the result. */
export type SendRequest = (method: string, params: unknown, options?: CallOptions) => Promise<unknown>

/** The request methods of an SDK client. */
export class SessionCalls {
  readonly #send: SendRequest

  constructor(send: SendRequest) {
    this.#send = send
  }

  async discover<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('server/discover', undefined, options))
  }

  async ping<Result = JsonObject>(options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('ping', undefined, options))
  }

  /** The second argument is a schema in SDK v1, and the options in SDK v2. */
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

  /** Alias of `subscribeResource`. */
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

  /** Takes the id of a task, or an object with it, as the SDKs do. */
  async getTask<Result = JsonObject>(task: TaskParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('tasks/get', taskParams(task), options))
  }

  async getTaskResult<Result = JsonObject>(
    task: TaskParams,
    schemaOrOptions?: unknown,
    options?: CallOptions,
  ): Promise<Result> {
    const given = options ?? optionsIn(schemaOrOptions)
    return castRecorded(await this.#send('tasks/result', taskParams(task), given))
  }

  async listTasks<Result = JsonObject>(page?: PageParams | string, options?: CallOptions): Promise<Result> {
    const params = typeof page === 'string' ? { cursor: page } : page
    return castRecorded(await this.#send('tasks/list', params, options))
  }

  async cancelTask<Result = JsonObject>(task: TaskParams, options?: CallOptions): Promise<Result> {
    return castRecorded(await this.#send('tasks/cancel', taskParams(task), options))
  }

  /** Sends any other request: extensions, methods of later revisions. */
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

/** Params of every request. */
interface WithMeta {
  readonly _meta?: JsonObject | undefined
}

interface CallParams extends WithMeta {
  readonly name: string
  readonly arguments?: JsonObject | undefined
}

interface ResourceParams extends WithMeta {
  readonly uri: string
}

type TaskParams = string | (WithMeta & { readonly taskId: string })

function taskParams(task: TaskParams): object {
  return typeof task === 'string' ? { taskId: task } : task
}

interface PageParams extends WithMeta {
  readonly cursor?: string | undefined
}

interface CompleteParams extends WithMeta {
  readonly ref: JsonObject
  readonly argument: { readonly name: string; readonly value: string }
  readonly context?: JsonObject | undefined
}

interface SessionProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Options of a call. Other options of the SDKs have no effect here. */
export interface CallOptions {
  readonly onprogress?: ((progress: SessionProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Sends a request to the recorded server and returns the result. */
export type SendRequestSync = (method: string, params: unknown, options?: CallOptions) => unknown

/**
 * The methods of a session without promises. A call that takes time fails with `USAGE`: because of a pace, a delay, or a
 * handler that returns a promise.
 */
export class SyncSession {
  readonly #send: SendRequestSync
  readonly #initialize: () => unknown

  constructor(send: SendRequestSync, initialize: () => unknown) {
    this.#send = send
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

  /** Sends any other request: tasks, extensions, methods of later revisions. */
  request<Result = JsonObject>(call: { readonly method: string; readonly params?: unknown }): Result {
    return castRecorded(this.#send(call.method, call.params))
  }
}

/** Gives a recorded value the type that the caller expects. A tape is not checked against schemas. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the only place where the caller's type is trusted
export function castRecorded<Result>(value: unknown): Result {
  return value as Result
}
