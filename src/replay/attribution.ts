import { isId, type Id } from '../protocol/id.ts'
import { member, type Notification, type Request } from '../protocol/message.ts'
import { META_KEYS, metaValue } from '../protocol/methods.ts'
import type { LiveCall } from './session/live-calls.ts'
import type { OpenCalls } from './open-calls.ts'

/** To which call the server's own messages belong, by the rules that assemble the exchanges of a tape. */
export class CallAttribution {
  readonly #open: OpenCalls
  readonly #byToken = new Map<Id, LiveCall>()

  constructor(open: OpenCalls) {
    this.#open = open
  }

  opened(call: LiveCall): void {
    if (call.token !== undefined) this.#byToken.set(call.token, call)
  }

  /** What still names it is late, and belongs to no call. */
  closed({ token }: LiveCall): void {
    if (token !== undefined) this.#byToken.delete(token)
  }

  callFor({ method, params }: Request | Notification): LiveCall | undefined {
    const subscription = metaValue(params, META_KEYS.subscriptionId)
    if (isId(subscription)) return this.#open.get(subscription)
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(token)
    return this.#open.latest()
  }
}
