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
  ASKING_METHODS,
  FINAL_TASK_STATES,
  LIST_CHANGES,
  RESOURCE_NOT_FOUND,
  TASKS_EXTENSION,
  toStatelessCapabilities,
  toStatelessResult,
  toStatelessTask,
  URL_ELICITATION_REQUIRED,
  withoutMeta,
  withValue,
} from './forms.ts'
import { OwnRequests, type Translator, type TranslatorOptions, type TranslatorPorts } from './translator.ts'

/** A request of the client. While the server waits for input, the client has no request open for it. */
interface ServedCall {
  readonly method: string
  /** As the server got it. */
  readonly text: string
  readonly level: unknown
  /** The id that the server knows it by, and that of the latest request of the client. */
  readonly serverId: Id
  clientId: Id | undefined
  token: unknown
  /** What the server asks for, by the name in `inputRequests`. */
  readonly asked: Map<string, AskedInput>
  /** Answers that the client gave before the server asked. */
  readonly spare: unknown[]
  isAskingSoon: boolean
}

interface AskedInput {
  /** The id of the server's request; `undefined` if the server wants the whole call again. */
  readonly id: Id | undefined
  readonly request: JsonObject
}

interface Listener {
  readonly id: Id
  readonly filter: unknown
  readonly uris: readonly unknown[]
}

/** Lets a client without sessions use a server that needs one. */
export class StatelessClientTranslator implements Translator {
  readonly #ports: TranslatorPorts
  readonly #options: TranslatorOptions
  readonly #own: OwnRequests
  readonly #calls = new Map<Id, ServedCall>()
  /** Calls that wait for input, by the names of what they ask for. */
  readonly #waiting = new Map<string, ServedCall>()
  readonly #listeners = new Map<Id, Listener>()
  #session: 'none' | 'opening' | 'open' = 'none'
  #queue: (() => void)[] = []
  #refusal: unknown
  #opened: unknown
  #level: unknown
  #askedCount = 0

  constructor(options: TranslatorOptions, ports: TranslatorPorts) {
    this.#options = options
    this.#ports = ports
    this.#own = new OwnRequests(ports)
  }

  fromClient(text: string, message: Message): void {
    if (message.kind === 'request') this.#whenOpen(message, () => this.#handleRequest(text, message))
    else if (message.kind === 'notification') this.#handleNotification(text, message)
    else if (message.kind === 'invalid') this.#ports.toServer(text)
  }

  fromServer(text: string, message: Message, of?: Id): void {
    if (message.kind === 'request') return this.#askedBy(message, of)
    if (message.kind === 'notification') return this.#forwardNotification(text, message, of)
    if (message.kind !== 'response') return this.#ports.toClient(text)
    if (this.#own.take(message)) return
    const call = message.id === null ? undefined : this.#calls.get(message.id)
    if (call === undefined) return this.#ports.toClient(text)
    this.#calls.delete(call.serverId)
    this.#handleResponse(text, message, call)
  }

  cancel(id: Id): void {
    const listener = this.#listeners.get(id)
    this.#listeners.delete(id)
    for (const uri of listener?.uris ?? [])
      if (![...this.#listeners.values()].some(({ uris }) => uris.includes(uri)))
        this.#own.send('resources/unsubscribe', { uri }, () => {})
    const call = [...this.#calls.values()].find(({ clientId }) => clientId === id)
    if (call === undefined) return
    this.#calls.delete(call.serverId)
    this.#ports.cancelAtServer(call.serverId)
  }

  lost(id: Id): Id | undefined {
    if (this.#own.lose(id)) return undefined
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    return call === undefined ? id : call.clientId
  }

  /** The first request opens the session. Those that follow wait for it. */
  #whenOpen({ id, params }: Request, handle: () => void): void {
    if (this.#refusal !== undefined) return this.#answerError(id, this.#refusal)
    if (this.#session === 'open') return handle()
    this.#queue.push(() => (this.#refusal === undefined ? handle() : this.#answerError(id, this.#refusal)))
    if (this.#session === 'opening') return
    this.#session = 'opening'
    const opening = {
      protocolVersion: this.#options.version,
      capabilities: this.#options.clientCapabilities ?? metaValue(params, META_KEYS.clientCapabilities) ?? {},
      clientInfo: metaValue(params, META_KEYS.clientInfo) ?? { name: 'client', version: '0' },
    }
    this.#own.send('initialize', opening, ({ outcome }) => {
      if ('error' in outcome) this.#refusal = outcome.error
      else {
        this.#opened = outcome.result
        this.#ports.toServer('{"jsonrpc":"2.0","method":"notifications/initialized"}')
      }
      this.#session = 'open'
      for (const run of this.#queue.splice(0)) run()
    })
  }

  #handleRequest(text: string, request: Request): void {
    const { id, method, params } = request
    const taskId = member(params, 'taskId')
    switch (method) {
      case 'server/discover':
        return this.#answer(id, { result: this.#discovered(params) })
      case 'subscriptions/listen':
        return this.#listen(id, member(params, 'notifications'))
      case 'tasks/get':
        return this.#getTask(id, taskId)
      case 'tasks/update':
        return this.#updateTask(id, member(params, 'inputResponses'))
      case 'tasks/cancel':
        return void this.#own.send('tasks/cancel', { taskId }, ({ outcome }) =>
          'error' in outcome ? this.#answerError(id, outcome.error) : this.#answer(id, { result: COMPLETE }),
        )
      default:
        if (!this.#continues(id, params)) this.#forward(text, request)
    }
  }

  #discovered(params: unknown): JsonObject {
    const instructions = member(this.#opened, 'instructions')
    return {
      supportedVersions: [metaValue(params, META_KEYS.protocolVersion)],
      capabilities: toStatelessCapabilities(member(this.#opened, 'capabilities')),
      ...(instructions !== undefined && { instructions }),
      ...COMPLETE,
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [META_KEYS.serverInfo]: this.#serverInfo },
    }
  }

  get #serverInfo(): unknown {
    return member(this.#opened, 'serverInfo')
  }

  #forward(text: string, { id, method, params }: Request): void {
    const level = metaValue(params, META_KEYS.logLevel)
    if (level !== undefined && level !== this.#level && this.#can('logging')) {
      this.#level = level
      this.#own.send('logging/setLevel', { level }, () => {})
    }
    const plain = withoutMeta(text, 'params', member(params, '_meta'))
    const isTask = method === 'tools/call' && hasTasks(params) && this.#can('tasks')
    const sent = isTask ? withValue(plain, ['params', 'task'], {}) : plain
    const token = metaValue(params, META_KEYS.progressToken)
    const [asked, spare] = [new Map<string, AskedInput>(), []]
    const call = {
      method,
      text: sent,
      level,
      serverId: id,
      clientId: id,
      token,
      asked,
      spare,
      isAskingSoon: false,
    }
    this.#calls.set(id, call)
    this.#ports.toServer(sent)
  }

  #can(capability: string): boolean {
    return member(member(this.#opened, 'capabilities'), capability) !== undefined
  }

  /** Takes the answers of a client that was asked for input. Returns false if the request is a new one. */
  #continues(id: Id, params: unknown): boolean {
    const responses = member(params, 'inputResponses')
    const given = isObject(responses) ? responses : {}
    const waiting = Object.keys(given).map((name) => this.#waiting.get(name))
    const call = waiting.find((each) => each !== undefined)
    if (call === undefined) return false
    call.clientId = id
    call.token = metaValue(params, META_KEYS.progressToken)
    const isRepeated = [...call.asked.values()].some((asked) => asked.id === undefined)
    for (const [name, value] of Object.entries(given)) {
      const asked = call.asked.get(name)
      if (asked === undefined) call.spare.push(value)
      else this.#give(call, name, asked, value)
    }
    if (isRepeated && call.asked.size === 0) this.#again(call)
    else if (call.asked.size > 0) this.#askSoon(call)
    return true
  }

  #give(call: ServedCall, name: string, { id }: AskedInput, result: unknown): void {
    call.asked.delete(name)
    this.#waiting.delete(name)
    if (id !== undefined) this.#ports.toServer(responseText(idToJson(id), { result }))
  }

  /** Sends the call once more, after the user has opened the URLs that it needed. */
  #again({ text, ...call }: ServedCall): void {
    const serverId = this.#own.newId()
    const again = { ...call, serverId, text: withValue(text, ['id'], serverId) }
    this.#calls.set(serverId, again)
    this.#ports.toServer(again.text)
  }

  #askedBy({ id, method, params }: Request, of: Id | undefined): void {
    if (method === 'ping') return this.#ports.toServer(responseText(idToJson(id), { result: {} }))
    const named = of === undefined ? undefined : this.#calls.get(of)
    const call = named ?? [...this.#calls.values()].findLast((each) => ASKING_METHODS.has(each.method))
    if (call === undefined)
      // Outside of a call, a client without sessions cannot be asked.
      return this.#ports.toServer(
        responseText(idToJson(id), {
          error: {
            code: METHOD_NOT_FOUND,
            message: 'clients without sessions cannot be asked outside of a call',
          },
        }),
      )
    const spare = call.spare.findIndex((value) => member(value, ANSWER_MARKS.get(method) ?? '') !== undefined)
    if (spare >= 0) {
      const [result] = call.spare.splice(spare, 1)
      return this.#ports.toServer(responseText(idToJson(id), { result }))
    }
    const asked = params === undefined ? {} : statelessParams(params)
    const isEmpty = isObject(asked) && Object.keys(asked).length === 0 // as in roots/list of some SDKs
    this.#addAsked(call, id, isEmpty ? { method } : { method, params: asked })
  }

  #addAsked(call: ServedCall, id: Id | undefined, request: JsonObject): void {
    const name = `input-${++this.#askedCount}`
    call.asked.set(name, { id, request })
    this.#waiting.set(name, call)
    this.#askSoon(call)
  }

  /** A server may ask for several things at once. They are one round for the client. */
  #askSoon(call: ServedCall): void {
    if (call.isAskingSoon) return
    call.isAskingSoon = true
    this.#ports.later(ROUND_DELAY_MS, () => {
      call.isAskingSoon = false
      const { clientId, asked } = call
      if (clientId === undefined || asked.size === 0) return
      call.clientId = undefined
      const inputRequests = Object.fromEntries([...asked].map(([name, { request }]) => [name, request]))
      const state = this.#options.givesState === true && { requestState: `reelay-${++this.#askedCount}` }
      const content = this.#options.givesContent === true && { content: [] }
      this.#answer(clientId, {
        result: { resultType: 'input_required', ...content, inputRequests, ...state, ...this.#meta() },
      })
    })
  }

  #meta(): JsonObject {
    return this.#serverInfo === undefined ? {} : { _meta: { [META_KEYS.serverInfo]: this.#serverInfo } }
  }

  #handleResponse(text: string, { outcome }: Response, call: ServedCall): void {
    const { clientId, method } = call
    if (clientId === undefined) return // the client was asked and has not come back
    if ('error' in outcome) return this.#handleError(text, outcome.error, call)
    const task = member(outcome.result, 'task')
    if (isObject(task) && typeof task['taskId'] === 'string')
      return this.#answer(clientId, {
        result: { resultType: 'task', ...toStatelessTask(task), ...this.#meta() },
      })
    const result = toStatelessResult(text, method, this.#serverInfo)
    this.#ports.toClient(withValue(result, ['id'], clientId), clientId)
  }

  #handleError(text: string, error: unknown, call: ServedCall): void {
    const elicitations = member(member(error, 'data'), 'elicitations')
    if (member(error, 'code') === URL_ELICITATION_REQUIRED && Array.isArray(elicitations)) {
      for (const params of elicitations as readonly unknown[])
        this.#addAsked(call, undefined, { method: 'elicitation/create', params: statelessParams(params) })
      return
    }
    const { clientId, method } = call
    const isNotFound = method === 'resources/read' && member(error, 'code') === RESOURCE_NOT_FOUND
    const coded = isNotFound ? withValue(text, ['error', 'code'], -32602) : text
    this.#ports.toClient(withValue(coded, ['id'], clientId), clientId)
  }

  #forwardNotification(text: string, { method, params }: Notification, of: Id | undefined): void {
    if (method === 'notifications/progress')
      return this.#forwardProgress(text, member(params, 'progressToken'), of)
    const list = LIST_CHANGES.get(method)
    if (
      list !== undefined ||
      method === 'notifications/resources/updated' ||
      method === 'notifications/tasks/status'
    )
      return this.#notifyListeners(text, { method, params, list })
    if (method === 'notifications/elicitation/complete' || method === 'notifications/cancelled') return
    const call = of === undefined ? [...this.#calls.values()].at(-1) : this.#calls.get(of)
    if (method === 'notifications/message' && call?.level === undefined) return
    this.#ports.toClient(text, call?.clientId)
  }

  #forwardProgress(text: string, token: unknown, of: Id | undefined): void {
    const named = of === undefined ? undefined : this.#calls.get(of)
    const byToken = [...this.#calls.values()].find(
      ({ text: sent }) => metaValue(member(parseJson(sent), 'params'), META_KEYS.progressToken) === token,
    )
    const call = named ?? byToken
    if (call?.clientId === undefined || call.token === undefined) return
    const renamed = call.token === token ? text : withValue(text, ['params', 'progressToken'], call.token)
    this.#ports.toClient(renamed, call.clientId)
  }

  #notifyListeners(
    text: string,
    {
      method,
      params,
      list,
    }: { readonly method: string; readonly params: unknown; readonly list: string | undefined },
  ): void {
    for (const { id, filter, uris } of this.#listeners.values()) {
      const tasks = member(filter, 'taskIds')
      const isTask = method === 'notifications/tasks/status'
      if (list !== undefined && member(filter, list) !== true) continue
      if (method === 'notifications/resources/updated' && !uris.includes(member(params, 'uri'))) continue
      if (isTask && !(Array.isArray(tasks) && tasks.includes(member(params, 'taskId')))) continue
      const shown = isTask
        ? JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks', params: toStatelessTask(params) })
        : text
      this.#ports.toClient(withValue(shown, ['params', '_meta', META_KEYS.subscriptionId], id), id)
    }
  }

  /** The subscription begins when the server has accepted all of its resources. */
  #listen(id: Id, filter: unknown): void {
    const given = member(filter, 'resourceSubscriptions')
    const uris: readonly unknown[] = Array.isArray(given) ? given : []
    const accepted: unknown[] = []
    let open = uris.length
    const acknowledge = (): void => {
      this.#listeners.set(id, { id, filter, uris: accepted })
      const notifications = {
        ...(isObject(filter) && filter),
        ...(uris.length > 0 && { resourceSubscriptions: accepted }),
      }
      const params = { notifications, _meta: { [META_KEYS.subscriptionId]: id } }
      const method = 'notifications/subscriptions/acknowledged'
      this.#ports.toClient(JSON.stringify({ jsonrpc: '2.0', method, params }), id)
    }
    if (open === 0) return acknowledge()
    for (const uri of uris)
      this.#own.send('resources/subscribe', { uri }, ({ outcome }) => {
        if ('result' in outcome) accepted.push(uri)
        if (--open === 0) acknowledge()
      })
  }

  #getTask(id: Id, taskId: unknown): void {
    this.#own.send('tasks/get', { taskId }, ({ outcome }) => {
      if ('error' in outcome) return this.#answerError(id, outcome.error)
      const task = { ...COMPLETE, ...toStatelessTask(outcome.result), ...this.#meta() }
      const status = member(outcome.result, 'status')
      if (!FINAL_TASK_STATES.has(status) || status === 'cancelled') return this.#answer(id, { result: task })
      this.#own.send('tasks/result', { taskId }, ({ outcome: end }) =>
        this.#answer(id, {
          result:
            'error' in end
              ? { ...task, error: end.error }
              : { ...task, result: withoutRelatedTask(end.result) },
        }),
      )
    })
  }

  #updateTask(id: Id, responses: unknown): void {
    for (const [name, value] of Object.entries(isObject(responses) ? responses : {})) {
      const call = this.#waiting.get(name)
      const asked = call?.asked.get(name)
      if (call !== undefined && asked !== undefined) this.#give(call, name, asked, value)
    }
    this.#answer(id, { result: COMPLETE })
  }

  #handleNotification(text: string, { method, params }: Notification): void {
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.cancel(id)
    else this.#ports.toServer(text)
  }

  #answer(id: Id, payload: ResponsePayload): void {
    this.#ports.toClient(responseText(idToJson(id), payload), id)
  }

  #answerError(id: Id, error: unknown): void {
    this.#ports.toClient(JSON.stringify({ jsonrpc: '2.0', id, error }), id)
  }
}

const COMPLETE = { resultType: 'complete' }
const ROUND_DELAY_MS = 10

/** A member that the answer to each request of a server has. */
const ANSWER_MARKS: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'action'],
  ['sampling/createMessage', 'role'],
  ['roots/list', 'roots'],
])

function hasTasks(params: unknown): boolean {
  const extensions = member(metaValue(params, META_KEYS.clientCapabilities), 'extensions')
  return member(extensions, TASKS_EXTENSION) !== undefined
}

/** URLs that the user is asked to open have no id without sessions, and requests for input no progress. */
function statelessParams(params: unknown): unknown {
  if (!isObject(params)) return params
  const { elicitationId: _, _meta, ...rest } = params
  return rest
}

function withoutRelatedTask(result: unknown): unknown {
  if (!isObject(result)) return result
  const { _meta, ...rest } = result
  const { 'io.modelcontextprotocol/related-task': _, ...meta } = isObject(_meta) ? _meta : {}
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }
}
