import { isObject, member, parseJson, type JsonObject } from '../../json/parse.ts'
import {
  type Id,
  idToJson,
  isId,
  type Message,
  META_KEYS,
  metaValue,
  METHOD_NOT_FOUND,
  type Notification,
  type Request,
  type Response,
  type ResponsePayload,
  responseText,
} from '../message.ts'
import {
  FINAL_TASK_STATES,
  LIST_CHANGES,
  RESOURCE_NOT_FOUND,
  TASKS_EXTENSION,
  toSessionCapabilities,
  toSessionResult,
  toSessionTask,
  toStatelessClient,
  withoutMeta,
  withValue,
} from './forms.ts'
import { OwnRequests, type Translator, type TranslatorOptions, type TranslatorPorts } from './translator.ts'

/** A request of the client, while the server works on it or the client is asked for input. */
interface ClientCall {
  readonly id: Id
  readonly method: string
  /** With the envelope, and without answers. */
  readonly text: string
  /** The id that the server knows it by. */
  serverId: Id | undefined
  rounds: number
}

/** Input that a server needs for a call or a task. It is complete when each of its requests has an answer. */
interface InputRound {
  readonly answers: Map<string, unknown>
  readonly size: number
  readonly complete: (answers: JsonObject) => void
  readonly fail: (error: unknown) => void
}

/** Lets a client that opens a session use a server without sessions. */
export class SessionClientTranslator implements Translator {
  readonly #ports: TranslatorPorts
  readonly #options: TranslatorOptions
  readonly #own: OwnRequests
  /** By the id that the server knows. */
  readonly #calls = new Map<Id, ClientCall>()
  readonly #asked = new Map<
    Id,
    { readonly round: InputRound; readonly name: string; readonly method: string }
  >()
  /** The `subscriptions/listen` request of each resource. */
  readonly #listens = new Map<unknown, Id>()
  readonly #subscribed = new Set<unknown>()
  readonly #waitingForListen = new Map<Id, Id>()
  #client: JsonObject = {}
  #serverCapabilities: unknown
  #level: unknown
  #askedCount = 0

  constructor(options: TranslatorOptions, ports: TranslatorPorts) {
    this.#options = options
    this.#ports = ports
    this.#own = new OwnRequests(ports)
  }

  fromClient(text: string, message: Message): void {
    if (message.kind === 'batch') {
      const items: unknown = parseJson(text)
      for (const [at, item] of message.items.entries())
        this.fromClient(JSON.stringify(Array.isArray(items) ? items[at] : null), item)
    } else if (message.kind === 'request') this.#handleRequest(text, message)
    else if (message.kind === 'notification') this.#handleNotification(text, message)
    else if (message.kind === 'response') this.#handleAnswer(message)
    else this.#ports.toServer(text)
  }

  fromServer(text: string, message: Message, of?: Id): void {
    if (message.kind === 'notification') return this.#forwardNotification(text, message, of)
    if (message.kind !== 'response') return this.#ports.toClient(text)
    if (this.#own.take(message)) return
    const call = message.id === null ? undefined : this.#calls.get(message.id)
    if (call === undefined) return this.#ports.toClient(text)
    this.#calls.delete(call.serverId ?? call.id)
    this.#handleResponse(text, message, call)
  }

  cancel(id: Id): void {
    const call = [...this.#calls.values()].find((each) => each.id === id)
    if (call?.serverId === undefined) return
    this.#calls.delete(call.serverId)
    this.#ports.cancelAtServer(call.serverId)
  }

  lost(id: Id): Id | undefined {
    if (this.#own.lose(id)) return undefined
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    return call?.id ?? id
  }

  #handleRequest(text: string, request: Request): void {
    const { id, method, params } = request
    switch (method) {
      case 'initialize':
        return this.#open(id, params)
      case 'ping':
        return this.#answer(id, { result: {} })
      case 'logging/setLevel':
        this.#level = member(params, 'level')
        return this.#answer(id, { result: {} })
      case 'resources/subscribe':
        return this.#subscribe(id, member(params, 'uri'))
      case 'resources/unsubscribe':
        return this.#unsubscribe(id, member(params, 'uri'))
      case 'tasks/get':
        return this.#queryTask(id, params, (state) => this.#answer(id, { result: toSessionTask(state) }))
      case 'tasks/result':
        return this.#awaitTask(id, params)
      case 'tasks/cancel':
        return this.#cancelTask(id, params)
      case 'tasks/list':
        return this.#answer(id, { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } })
      default:
        return this.#forward(text, request)
    }
  }

  #open(id: Id, params: unknown): void {
    this.#client = {
      [META_KEYS.clientCapabilities]: toStatelessClient(member(params, 'capabilities')),
      ...(isObject(member(params, 'clientInfo')) && { [META_KEYS.clientInfo]: member(params, 'clientInfo') }),
    }
    this.#own.send('server/discover', { _meta: this.#envelope() }, ({ outcome }) => {
      if ('error' in outcome) return this.#ports.toClient(errorText(id, outcome.error), id)
      const { result } = outcome
      this.#serverCapabilities = member(result, 'capabilities')
      const instructions = member(result, 'instructions')
      this.#answer(id, {
        result: {
          protocolVersion: member(params, 'protocolVersion'),
          capabilities: toSessionCapabilities(this.#serverCapabilities),
          serverInfo: metaValue(result, META_KEYS.serverInfo) ?? { name: 'server', version: '0' },
          ...(instructions !== undefined && { instructions }),
        },
      })
    })
  }

  /** The members of `_meta` that every request has. */
  #envelope(): JsonObject {
    const level =
      this.#level ?? (member(this.#serverCapabilities, 'logging') === undefined ? undefined : 'debug')
    return {
      [META_KEYS.protocolVersion]: this.#options.version,
      ...this.#client,
      ...(level !== undefined && { [META_KEYS.logLevel]: level }),
    }
  }

  #forward(text: string, { id, method, params }: Request): void {
    const hasTask = member(params, 'task') !== undefined
    const plain = hasTask ? withValue(text, ['params', 'task'], undefined) : text
    const enveloped = Object.entries(this.#envelope()).reduce(
      (edited, [name, value]) =>
        withValue(
          edited,
          ['params', '_meta', name],
          hasTask && name === META_KEYS.clientCapabilities ? withTasks(value) : value,
        ),
      plain,
    )
    const call = { id, method, text: enveloped, serverId: id, rounds: 0 }
    this.#calls.set(id, call)
    this.#ports.toServer(enveloped)
  }

  #handleNotification(text: string, { method, params }: Notification): void {
    const id = member(params, 'requestId')
    if (method === 'notifications/initialized') this.#listenForLists()
    else if (method === 'notifications/cancelled' && isId(id)) this.cancel(id)
    else if (!DROPPED_NOTIFICATIONS.has(method)) this.#ports.toServer(text)
  }

  /** In a session, changes of lists need no subscription. */
  #listenForLists(): void {
    const { filters: recorded } = this.#options
    if (recorded !== undefined) return recorded.forEach((filter) => this.#listen(filter, () => {}))
    const filters = [...LIST_CHANGES].flatMap(([method, filter]) => {
      const list = member(this.#serverCapabilities, method.split('/')[1] ?? '')
      return member(list, 'listChanged') === true ? [[filter, true]] : []
    })
    if (filters.length > 0) this.#listen(Object.fromEntries(filters), () => {})
  }

  #listen(notifications: unknown, onEnd: (response: Response) => void, id: Id = this.#own.newId()): void {
    this.#own.send('subscriptions/listen', { notifications, _meta: this.#envelope() }, onEnd, id)
  }

  #subscribe(id: Id, uri: unknown): void {
    this.#subscribed.add(uri)
    if (this.#options.filters?.some((filter) => urisIn(filter).includes(uri)) === true)
      return this.#answer(id, { result: {} }) // it is open already
    const listen = this.#own.newId()
    this.#listens.set(uri, listen)
    this.#waitingForListen.set(listen, id)
    const onEnd = ({ outcome }: Response): void => {
      this.#listens.delete(uri)
      if (this.#waitingForListen.delete(listen) && 'error' in outcome)
        this.#ports.toClient(errorText(id, outcome.error), id)
    }
    this.#listen({ resourceSubscriptions: [uri] }, onEnd, listen)
  }

  #unsubscribe(id: Id, uri: unknown): void {
    this.#subscribed.delete(uri)
    const listen = this.#listens.get(uri)
    if (listen !== undefined) this.#ports.cancelAtServer(listen)
    this.#listens.delete(uri)
    this.#answer(id, { result: {} })
  }

  #forwardNotification(text: string, { method, params }: Notification, of: Id | undefined): void {
    const subscription = metaValue(params, META_KEYS.subscriptionId)
    if (method === 'notifications/subscriptions/acknowledged') {
      const id = isId(subscription) ? this.#waitingForListen.get(subscription) : undefined
      if (id === undefined || !isId(subscription)) return
      this.#waitingForListen.delete(subscription)
      return this.#answer(id, { result: {} })
    }
    if (method === 'notifications/cancelled') return // the server ends a subscription
    if (method === 'notifications/tasks')
      return this.#ports.toClient(
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/tasks/status',
          params: toSessionTask(params),
        }),
      )
    if (method === 'notifications/resources/updated' && !this.#subscribed.has(member(params, 'uri'))) return
    const call = of === undefined ? undefined : this.#calls.get(of)
    this.#ports.toClient(withoutMeta(text, 'params', member(params, '_meta')), call?.id)
  }

  #handleResponse(text: string, { outcome }: Response, call: ClientCall): void {
    if ('error' in outcome) return this.#ports.toClient(this.#errorFor(text, outcome.error, call), call.id)
    const { result } = outcome
    const type = member(result, 'resultType')
    if (type === 'input_required') return this.#askForCall(call, result)
    if (type === 'task') return this.#answer(call.id, { result: { task: toSessionTask(result) } })
    this.#ports.toClient(withValue(toSessionResult(text, result), ['id'], call.id), call.id)
  }

  #errorFor(text: string, error: unknown, { id, method }: ClientCall): string {
    const withId = withValue(text, ['id'], id)
    const { notFoundCode } = this.#options
    const isNotFound = method === 'resources/read' && member(error, 'code') === -32602
    return isNotFound && notFoundCode === RESOURCE_NOT_FOUND
      ? withValue(withId, ['error', 'code'], notFoundCode)
      : withId
  }

  /** Asks the client for input, and sends the request again with its answers. */
  #askForCall(call: ClientCall, result: unknown): void {
    const state = member(result, 'requestState')
    const again = (answers: JsonObject): void => {
      if (++call.rounds > MOST_ROUNDS)
        return this.#answer(call.id, {
          error: { code: -32000, message: `the server asked for input more than ${MOST_ROUNDS} times` },
        })
      call.serverId = this.#own.newId()
      this.#calls.set(call.serverId, call)
      let text = withValue(call.text, ['id'], call.serverId)
      if (Object.keys(answers).length > 0) text = withValue(text, ['params', 'inputResponses'], answers)
      this.#ports.toServer(state === undefined ? text : withValue(text, ['params', 'requestState'], state))
    }
    const requests = member(result, 'inputRequests')
    if (!isObject(requests) || Object.keys(requests).length === 0)
      return this.#ports.later(RETRY_DELAY_MS, () => again({}))
    this.#ask(call.id, requests, again)
  }

  #ask(of: Id, requests: JsonObject, complete: (answers: JsonObject) => void): void {
    const size = Object.keys(requests).length
    const fail = (error: unknown): void => this.#ports.toClient(errorText(of, error), of)
    const round: InputRound = { answers: new Map(), size, complete, fail }
    for (const [name, request] of Object.entries(requests)) {
      const id = `reelay-input-${++this.#askedCount}`
      const method = String(member(request, 'method'))
      this.#asked.set(id, { round, name, method })
      const params = this.#sessionParams(member(request, 'params'), id)
      this.#ports.toClient(
        JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }),
        of,
      )
    }
  }

  /** In a session, each URL that the user is asked to open has an id. */
  #sessionParams(params: unknown, id: string): unknown {
    const isUrl = isObject(params) && params['mode'] === 'url' && params['elicitationId'] === undefined
    return isUrl ? { ...params, elicitationId: id } : params
  }

  #handleAnswer({ id, outcome }: Response): void {
    const asked = id === null ? undefined : this.#asked.get(id)
    if (asked === undefined || id === null) return
    this.#asked.delete(id)
    const { round, name, method } = asked
    // Only questions to the user can be refused in a result. Everything else ends the call.
    if ('error' in outcome && method !== 'elicitation/create') return round.fail(outcome.error)
    round.answers.set(name, 'error' in outcome ? { action: 'cancel' } : outcome.result)
    if (round.answers.size === round.size) round.complete(Object.fromEntries(round.answers))
  }

  #queryTask(id: Id, params: unknown, onState: (state: unknown) => void): void {
    const taskId = member(params, 'taskId')
    this.#own.send('tasks/get', { taskId, _meta: this.#taskEnvelope() }, ({ outcome }) => {
      if ('error' in outcome) this.#ports.toClient(errorText(id, outcome.error), id)
      else onState(outcome.result)
    })
  }

  #taskEnvelope(): JsonObject {
    const envelope = this.#envelope()
    return {
      ...envelope,
      [META_KEYS.clientCapabilities]: withTasks(envelope[META_KEYS.clientCapabilities]),
    }
  }

  /** In a session, `tasks/result` waits until the task is over. */
  #awaitTask(id: Id, params: unknown): void {
    const taskId = member(params, 'taskId')
    this.#queryTask(id, params, (state) => {
      const status = member(state, 'status')
      const requests = member(state, 'inputRequests')
      const again = (): void => this.#awaitTask(id, params)
      if (status === 'input_required' && isObject(requests))
        return this.#ask(id, requests, (inputResponses) => {
          const update = { taskId, inputResponses, _meta: this.#taskEnvelope() }
          this.#own.send('tasks/update', update, again)
        })
      if (!FINAL_TASK_STATES.has(status)) {
        const interval = member(state, 'pollIntervalMs')
        return this.#ports.later(typeof interval === 'number' ? interval : POLL_MS, again)
      }
      const [result, error] = [member(state, 'result'), member(state, 'error')]
      if (error !== undefined) return this.#ports.toClient(errorText(id, error), id)
      const meta = { 'io.modelcontextprotocol/related-task': { taskId } }
      this.#answer(id, { result: { ...(isObject(result) && result), _meta: meta } })
    })
  }

  #cancelTask(id: Id, params: unknown): void {
    const cancel = { taskId: member(params, 'taskId'), _meta: this.#taskEnvelope() }
    this.#own.send('tasks/cancel', cancel, ({ outcome }) => {
      if ('error' in outcome) return this.#ports.toClient(errorText(id, outcome.error), id)
      this.#queryTask(id, params, (state) => this.#answer(id, { result: toSessionTask(state) }))
    })
  }

  #answer(id: Id, payload: ResponsePayload): void {
    this.#ports.toClient(responseText(idToJson(id), payload), id)
  }
}

/** A server that keeps asking would keep the client busy without end. */
const MOST_ROUNDS = 20
const RETRY_DELAY_MS = 50
const POLL_MS = 100

/** Clients without sessions send no notifications but cancellations. */
const DROPPED_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/roots/list_changed',
  'notifications/tasks/status',
])

function urisIn(filter: unknown): readonly unknown[] {
  const uris = member(filter, 'resourceSubscriptions')
  return Array.isArray(uris) ? uris : []
}

function withTasks(capabilities: unknown): JsonObject {
  const given = isObject(capabilities) ? capabilities : {}
  const extensions = isObject(given['extensions']) ? given['extensions'] : {}
  return { ...given, extensions: { ...extensions, [TASKS_EXTENSION]: {} } }
}

function errorText(id: Id, error: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}
