import { parseJson, member } from '../json/parse.ts'
import {
  idKey,
  isId,
  type Id,
  type Direction,
  classifyMessage,
  type Batch,
  type Message,
  type Notification,
  type Request,
} from '../protocol/message.ts'
import { isHandshakeMethod } from '../protocol/revisions/index.ts'
import type { RecordingRules } from './limits.ts'
import type { TapeLog } from './tape-log.ts'

/** Where a message crossed. */
export interface MessageOrigin {
  /** Within it an id means one request. */
  readonly scope: string
  /** The envelope between `t` and the payload, without the direction. */
  readonly place: string
}

/** Looks into messages before they are taped, which costs time: there is one only where the user asked for what needs it. */
export class MessageFilter {
  readonly #filter: MethodFilter
  readonly #pending: PendingRequestWatch | undefined

  constructor({ only = [], skip = [] }: RecordingRules, pending: PendingRequestOptions | undefined) {
    this.#filter = new MethodFilter({ only, skip })
    this.#pending = pending && new PendingRequestWatch(pending)
  }

  /** Whether the message is taped. */
  keeps(dir: Direction, text: string, link: MessageOrigin): boolean {
    const message = classifyMessage(parseJson(text))
    this.#pending?.observe(dir, message, link)
    return this.#filter.keeps(dir, message, link.scope)
  }
}

/** What looks into messages, where something asked for needs it. */
export function messageFilterFor(rules: MessageFilterRules, log: TapeLog): MessageFilter | undefined {
  const { only = [], skip = [], pendingMs, onPending = () => {} } = rules
  if (only.length + skip.length === 0 && pendingMs === undefined) return undefined
  return new MessageFilter(rules, pendingMs === undefined ? undefined : { pendingMs, log, onPending })
}

interface MessageFilterRules extends RecordingRules {
  readonly onPending?: (words: string) => void
}

export interface MethodFilterRules {
  /** Patterns such as `tools/call` or `resources/*`; only these are taped. */
  readonly only: readonly string[]
  /** These are not. */
  readonly skip: readonly string[]
}

/** Decides which messages are taped: by method, and an answer goes the way of its request. The handshake always stays. */
export class MethodFilter {
  readonly #only: readonly RegExp[]
  readonly #skip: readonly RegExp[]
  readonly #skippedRequests: Record<Direction, Set<string>> = { c2s: new Set(), s2c: new Set() }

  constructor({ only, skip }: MethodFilterRules) {
    this.#only = only.map(toRegExp)
    this.#skip = skip.map(toRegExp)
  }

  /** Within a scope, such as a connection, an id means one request. */
  keeps(dir: Direction, message: Message, scope: string): boolean {
    if (message.kind !== 'batch') return this.#keepsOne(dir, message, scope)
    return message.items
      .map((item) => item.kind === 'batch' || this.#keepsOne(dir, item, scope))
      .includes(true)
  }

  #keepsOne(dir: Direction, message: Exclude<Message, Batch>, scope: string): boolean {
    switch (message.kind) {
      case 'request': {
        const keeps = this.#keepsMethod(message.method)
        if (!keeps) this.#skippedRequests[dir].add(scope + idKey(message.id))
        return keeps
      }
      case 'notification':
        return this.#keepsMethod(message.method)
      case 'response':
        return (
          message.id === null ||
          !this.#skippedRequests[dir === 'c2s' ? 's2c' : 'c2s'].delete(scope + idKey(message.id))
        )
      case 'invalid':
        return true
    }
  }

  #keepsMethod(method: string): boolean {
    if (isHandshakeMethod(method)) return true
    const isNamed = this.#only.length === 0 || this.#only.some((pattern) => pattern.test(method))
    return isNamed && !this.#skip.some((pattern) => pattern.test(method))
  }
}

function toRegExp(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

export interface PendingRequestOptions {
  readonly pendingMs: number
  readonly log: TapeLog
  /** For people. */
  readonly onPending: (words: string) => void
}

/** Notes each request that has had no answer for too long, once, on the tape and to the user. The request itself goes on. */
export class PendingRequestWatch {
  readonly #options: PendingRequestOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(options: PendingRequestOptions) {
    this.#options = options
  }

  observe(dir: Direction, message: Message, link: MessageOrigin): void {
    if (message.kind === 'batch') for (const item of message.items) this.observe(dir, item, link)
    if (message.kind === 'request' && !LONG_LIVED_METHODS.has(message.method)) this.#wait(dir, message, link)
    if (message.kind === 'notification') this.#cancel(dir, message, link)
    if (message.kind === 'response' && message.id !== null)
      this.#settle(oppositeDirection(dir), message.id, link)
  }

  #wait(dir: Direction, request: Request, link: MessageOrigin): void {
    const { pendingMs } = this.#options
    const key = pendingKey(dir, request.id, link)
    clearTimeout(this.#timers.get(key))
    const timer = setTimeout(() => {
      this.#timers.delete(key)
      this.#report(dir, request, link)
    }, pendingMs)
    this.#timers.set(key, timer.unref())
  }

  #settle(dir: Direction, id: Id, link: MessageOrigin): void {
    const key = pendingKey(dir, id, link)
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
  }

  /** What was taken back is not waited for. */
  #cancel(dir: Direction, { method, params }: Notification, link: MessageOrigin): void {
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.#settle(dir, id, link)
  }

  #report(dir: Direction, { id, method }: Request, { place }: MessageOrigin): void {
    const { log, pendingMs, onPending } = this.#options
    const event = JSON.stringify({ event: 'pending', dir, id, method, ms: pendingMs }).slice(1, -1)
    log.writeFrame(`${place},${event}`)
    onPending(`${method} (id ${JSON.stringify(id)}) has had no answer for ${pendingMs / 1000} s`)
  }
}

/** Open as long as somebody listens. */
const LONG_LIVED_METHODS: ReadonlySet<string> = new Set(['subscriptions/listen'])

function oppositeDirection(dir: Direction): Direction {
  return dir === 'c2s' ? 's2c' : 'c2s'
}

function pendingKey(dir: Direction, id: Id, { scope }: MessageOrigin): string {
  return `${dir} ${scope} ${idKey(id)}`
}
