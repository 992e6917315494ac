import type { RecordedMessage, Turn } from '../../tape/turn.ts'
import { member, type Message, type Request } from '../../protocol/message.ts'
import { META_KEYS, metaValue } from '../../protocol/methods.ts'
import type { LiveMessage } from './rewrite.ts'

/** What the live client asked to hear: a server sends no log below the chosen level, and no update that is not subscribed to. */
export class ClientSubscriptions {
  /** The resources that were subscribed to on the tape: what else the server tells, it tells unasked. */
  readonly #recorded: ReadonlySet<unknown>
  readonly #subscribed = new Set<unknown>()
  #level: unknown

  /** `subscribing` are the turns of `resources/subscribe`. */
  constructor(subscribing: readonly Turn[]) {
    this.#recorded = new Set(subscribing.map(({ trigger }) => uriIn(trigger?.message)))
  }

  /** Takes a request that is about to be answered. */
  observe(request: Request): void {
    const { method, params } = request
    if (method === 'logging/setLevel') this.#level = member(params, 'level')
    if (method === 'resources/subscribe') this.#subscribed.add(uriIn(request))
    if (method === 'resources/unsubscribe') this.#subscribed.delete(uriIn(request))
  }

  /** Whether a recorded notification is for this client; `trigger` and `live` are what set it off, then and now. */
  wants(
    { message }: RecordedMessage,
    trigger: RecordedMessage | undefined,
    live: LiveMessage | undefined,
  ): boolean {
    if (message.kind !== 'notification') return true
    if (message.method === 'notifications/message') return this.#wantsLog(message.params, trigger, live)
    if (message.method !== 'notifications/resources/updated') return true
    if (metaValue(message.params, META_KEYS.subscriptionId) !== undefined) return true
    const uri = uriIn(message)
    return !this.#recorded.has(uri) || this.#subscribed.has(uri)
  }

  // 2026-07-28: log messages go only to a request that asked for them.
  #wantsLog(params: unknown, trigger: RecordedMessage | undefined, live: LiveMessage | undefined): boolean {
    if (requestedLogLevel(trigger?.message) !== undefined && live !== undefined)
      return isAtLeast(member(params, 'level'), requestedLogLevel(live.message), false)
    return isAtLeast(member(params, 'level'), this.#level, true)
  }
}

const LOG_LEVELS: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** What names no level that we know is never held back for its level. */
function isAtLeast(level: unknown, wanted: unknown, withoutWish: boolean): boolean {
  if (wanted === undefined) return withoutWish
  return !LOG_LEVELS.includes(level) || LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted)
}

function requestedLogLevel(message: Message | undefined): unknown {
  return message !== undefined && 'params' in message
    ? metaValue(message.params, META_KEYS.logLevel)
    : undefined
}

function uriIn(message: Message | undefined): unknown {
  return message !== undefined && 'params' in message ? member(message.params, 'uri') : undefined
}
