import type { Direction } from '../wire/direction.ts'
import { idKey, isId, type Id } from '../protocol/id.ts'
import { member, type Message, type Notification, type Request } from '../protocol/message.ts'
import type { MessageOrigin } from './message-filter.ts'
import type { TapeLog } from './tape-log.ts'

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
