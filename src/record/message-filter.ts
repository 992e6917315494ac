import { parseJson } from '../json/parse.ts'
import {
  type Id,
  idKey,
  type Batch,
  cancelledId,
  classifyMessage,
  type Direction,
  type Message,
  type Request,
} from '../protocol/message.ts'
import { isHandshakeMethod } from '../protocol/revisions/index.ts'
import type { RecordingRules, TapeLog } from './tape-log.ts'

/** The connection that a message belongs to. */
export interface MessageOrigin {
  /** Identifies the connection. Within it an id belongs to one request. */
  readonly scope: string
  /** The envelope between the time and the payload of a frame, without the direction. */
  readonly place: string
}

interface MessageFilterRules extends RecordingRules {
  /** Called with a text for the user when a request has had no response for `pendingMs`. */
  readonly onPending?: (text: string) => void
}

/** Returns undefined if the rules need no filter. Filtering takes time, because every message is parsed. */
export function messageFilterFor(rules: MessageFilterRules, log: TapeLog): MessageFilter | undefined {
  const { only = [], skip = [], pendingMs, onPending = () => {} } = rules
  if (only.length + skip.length === 0 && pendingMs === undefined) return undefined
  const pending = pendingMs === undefined ? undefined : new PendingRequestWatch({ pendingMs, log, onPending })
  return new MessageFilter(only, skip, pending)
}

/**
 * Decides which messages are recorded: by method, and a response like its request. The handshake is always recorded. Every
 * message is also shown to the watch for pending requests, if there is one.
 */
export class MessageFilter {
  readonly #only: readonly RegExp[]
  readonly #skip: readonly RegExp[]
  readonly #pending: PendingRequestWatch | undefined
  readonly #skippedRequests: Record<Direction, Set<string>> = { c2s: new Set(), s2c: new Set() }

  constructor(only: readonly string[], skip: readonly string[], pending: PendingRequestWatch | undefined) {
    this.#only = only.map(methodPattern)
    this.#skip = skip.map(methodPattern)
    this.#pending = pending
  }

  keeps(dir: Direction, text: string, origin: MessageOrigin): boolean {
    const message = classifyMessage(parseJson(text))
    this.#pending?.observe(dir, message, origin)
    if (message.kind !== 'batch') return this.#keepsOne(dir, message, origin)
    // Every item is looked at, because each may be a request whose response follows.
    return message.items
      .map((item) => item.kind === 'batch' || this.#keepsOne(dir, item, origin))
      .includes(true)
  }

  /** Whether a request of the client is recorded, or a batch with one. Nothing is remembered. */
  keepsRequest(text: string): boolean {
    const message = classifyMessage(parseJson(text))
    const items = message.kind === 'batch' ? message.items : [message]
    return items.some((item) => !('method' in item) || this.#keepsMethod(item.method))
  }

  #keepsOne(dir: Direction, message: Exclude<Message, Batch>, { scope }: MessageOrigin): boolean {
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
          !this.#skippedRequests[oppositeDirection(dir)].delete(scope + idKey(message.id))
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

/** A star matches any text. */
function methodPattern(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

interface PendingRequestOptions {
  readonly pendingMs: number
  readonly log: TapeLog
  readonly onPending: (text: string) => void
}

/** Notes each request that has had no response for too long, once, on the tape and for the user. */
class PendingRequestWatch {
  readonly #options: PendingRequestOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(options: PendingRequestOptions) {
    this.#options = options
  }

  observe(dir: Direction, message: Message, origin: MessageOrigin): void {
    if (message.kind === 'batch') for (const item of message.items) this.observe(dir, item, origin)
    if (message.kind === 'request' && !LONG_LIVED_METHODS.has(message.method))
      this.#start(dir, message, origin)
    if (message.kind === 'response' && message.id !== null)
      this.#stop(oppositeDirection(dir), message.id, origin)
    const cancelled = cancelledId(message)
    if (cancelled !== undefined) this.#stop(dir, cancelled, origin)
  }

  #start(dir: Direction, request: Request, origin: MessageOrigin): void {
    const key = pendingKey(dir, request.id, origin)
    clearTimeout(this.#timers.get(key))
    const timer = setTimeout(() => {
      this.#timers.delete(key)
      this.#report(dir, request, origin)
    }, this.#options.pendingMs)
    this.#timers.set(key, timer.unref())
  }

  #stop(dir: Direction, id: Id, origin: MessageOrigin): void {
    const key = pendingKey(dir, id, origin)
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
  }

  #report(dir: Direction, { id, method }: Request, { place }: MessageOrigin): void {
    const { log, pendingMs, onPending } = this.#options
    const event = JSON.stringify({ event: 'pending', dir, id, method, ms: pendingMs }).slice(1, -1)
    log.writeFrame(`${place},${event}`)
    onPending(`${method} (id ${JSON.stringify(id)}) has had no response for ${pendingMs / 1000} s`)
  }
}

/** Requests that stay open for as long as the client wants. */
const LONG_LIVED_METHODS: ReadonlySet<string> = new Set(['subscriptions/listen'])

function oppositeDirection(dir: Direction): Direction {
  return dir === 'c2s' ? 's2c' : 'c2s'
}

function pendingKey(dir: Direction, id: Id, { scope }: MessageOrigin): string {
  return `${dir} ${scope} ${idKey(id)}`
}
