import { isId, type Id } from '../wire/id.ts'
import { member, type Notification, type Request } from '../wire/message.ts'
import { META, metaOf } from '../wire/methods.ts'
import type { LiveCall } from './live-call.ts'

/** To which call the server's own messages belong, by the rules that assemble the exchanges of a tape. */
export class Attribution {
  readonly #byToken = new Map<Id, LiveCall>()
  readonly #byId = new Map<Id, LiveCall>()
  readonly #open = new Set<LiveCall>()
  #last: LiveCall | undefined

  opened(call: LiveCall, token: Id | undefined): void {
    if (token !== undefined) this.#byToken.set(token, call)
    this.#byId.set(call.id, call)
    this.#open.add(call)
    this.#last = call
  }

  /** What still names it is late, and belongs to no call. */
  closed(call: LiveCall, token: Id | undefined): void {
    this.#open.delete(call)
    this.#byId.delete(call.id)
    if (token !== undefined) this.#byToken.delete(token)
  }

  of({ method, params }: Request | Notification): LiveCall | undefined {
    const subscription = metaOf(params, META.subscriptionId)
    if (isId(subscription)) return this.#byId.get(subscription)
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(token)
    return [...this.#open].at(-1) ?? this.#last
  }
}
