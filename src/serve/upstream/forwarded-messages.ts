import { findRange, replaceValue } from '../../json/find-replace.ts'
import { parseJson, member } from '../../json/parse.ts'
import {
  idKey,
  type Id,
  isId,
  type Response,
  type Notification,
  META_KEYS,
  metaValue,
} from '../../protocol/message.ts'
import type { LiveRequest } from '../player/live-messages.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'

/** A request of the client on its way to the live server, under an id of the link's own. */
export interface ForwardedRequest {
  readonly id: number
  /** What goes over the link. */
  readonly text: string
  /** What the client calls it. */
  readonly live: LiveRequest
  readonly channel: ReplyChannel
}

/** The requests that were passed on. Ids and tokens of two exchanges may be the same, so on the live link each has its own. */
export class ForwardedRequests {
  readonly #unanswered = new Map<string, ForwardedRequest>()
  readonly #byClient = new Map<string, ForwardedRequest>()
  /** Those whose progress may still come; a task outlives the answer that began it. */
  readonly #withProgress = new Map<string, ForwardedRequest>()
  #count = 0
  #newest: ForwardedRequest | undefined

  add(live: LiveRequest, channel: ReplyChannel): ForwardedRequest {
    const id = ++this.#count
    const passed = { id, live, channel, text: rewriteForLink(id, live) }
    this.#unanswered.set(idKey(id), passed)
    this.#byClient.set(clientKey(live.message.id, channel.scope), passed)
    if (live.progressToken !== undefined) this.#withProgress.set(idKey(id), passed)
    this.#newest = passed
    return passed
  }

  has({ id }: ForwardedRequest): boolean {
    return this.#unanswered.has(idKey(id))
  }

  /** Whether anyone waits for an answer; a subscription has none to wait for. */
  get hasUnanswered(): boolean {
    return [...this.#unanswered.values()].some(({ live }) => live.message.method !== 'subscriptions/listen')
  }

  /** What the client calls so and still waits for. */
  byClientId(id: Id, scope: string): ForwardedRequest | undefined {
    const passed = this.#byClient.get(clientKey(id, scope))
    return passed !== undefined && this.has(passed) ? passed : undefined
  }

  byLinkId(linkId: Id): ForwardedRequest | undefined {
    return this.#unanswered.get(idKey(linkId))
  }

  byProgressToken(token: Id): ForwardedRequest | undefined {
    return this.#withProgress.get(idKey(token))
  }

  /** It is answered, or given up. */
  close(passed: ForwardedRequest, outcome?: Response['outcome']): void {
    const { id, live, channel } = passed
    this.#unanswered.delete(idKey(id))
    const key = clientKey(live.message.id, channel.scope)
    if (this.#byClient.get(key) === passed) this.#byClient.delete(key)
    if (member(member(outcome, 'result'), 'task') === undefined) this.#withProgress.delete(idKey(id))
  }

  all(): readonly ForwardedRequest[] {
    return [...this.#unanswered.values()]
  }

  /** The one that the server most likely speaks of when it does not say. */
  get likelySubject(): ForwardedRequest | undefined {
    return [...this.#unanswered.values()].at(-1) ?? this.#newest
  }
}

function rewriteForLink(id: number, { text, progressToken }: LiveRequest): string {
  const named = replaceValue(text, ['id'], String(id))
  if (progressToken === undefined) return named
  return replaceValue(named, ['params', '_meta', META_KEYS.progressToken], String(id))
}

function clientKey(id: Id, scope: string): string {
  return `${scope}${idKey(id)}`
}

/** What a live server asks, under ids of our own: its ids may be in use for what the recorded server asks. */
export class UpstreamServerRequests {
  /** By our id, the bytes of the server's. */
  readonly #open = new Map<string, string>()
  /** By the server's id, ours as JSON. */
  readonly #clientIds = new Map<string, string>()
  #count = 0

  /** The request as the client gets it. */
  add(text: string): string {
    const own = `reelay-live-${++this.#count}`
    const range = findRange(text, ['id'])
    this.#open.set(idKey(own), range === undefined ? 'null' : text.slice(range.start, range.end))
    const theirs = member(parseJson(text), 'id')
    if (isId(theirs)) this.#clientIds.set(idKey(theirs), JSON.stringify(own))
    return replaceValue(text, ['id'], JSON.stringify(own))
  }

  /** The bytes of the id under which the server waits for this answer; none when it did not ask. */
  take(id: Id | null): string | undefined {
    const key = id === null ? '' : idKey(id)
    const theirs = this.#open.get(key)
    this.#open.delete(key)
    return theirs
  }

  /** What the client calls a request of the server, as JSON. */
  clientIdFor(theirs: Id): string | undefined {
    return this.#clientIds.get(idKey(theirs))
  }
}

/** A notification of the live server as its client is to get it. */
interface ForwardedNotification {
  readonly text: string
  /** The request that it belongs to, where it says so. */
  readonly of?: ForwardedRequest
}

interface ForwardedIds {
  readonly requests: ForwardedRequests
  readonly asks: UpstreamServerRequests
}

/** Tokens, subscriptions and requests have other names on the live link than the client knows; none when the client waits for nothing of that name. */
export function forwardNotification(
  text: string,
  notification: Notification,
  names: ForwardedIds,
): ForwardedNotification | undefined {
  const { method, params } = notification
  if (method === 'notifications/progress') return forwardProgress(text, params, names)
  if (method === 'notifications/cancelled') return forwardCancellation(text, params, names)
  const subscription = metaValue(params, META_KEYS.subscriptionId)
  const of = isId(subscription) ? names.requests.byLinkId(subscription) : undefined
  if (of === undefined) return { text }
  return { text: replaceValue(text, ['params', '_meta', META_KEYS.subscriptionId], of.live.id), of }
}

function forwardProgress(
  text: string,
  params: unknown,
  { requests }: ForwardedIds,
): ForwardedNotification | undefined {
  const token = member(params, 'progressToken')
  const of = isId(token) ? requests.byProgressToken(token) : undefined
  const known = of?.live.progressToken
  if (of === undefined || known === undefined) return undefined
  return { text: replaceValue(text, ['params', 'progressToken'], known), of }
}

/** The server takes back what it asked, or ends a subscription. */
function forwardCancellation(
  text: string,
  params: unknown,
  { requests, asks }: ForwardedIds,
): ForwardedNotification | undefined {
  const id = member(params, 'requestId')
  if (!isId(id)) return { text }
  const asked = asks.clientIdFor(id)
  const of = asked === undefined ? requests.byLinkId(id) : undefined
  const known = asked ?? of?.live.id
  if (known === undefined) return undefined
  return { text: replaceValue(text, ['params', 'requestId'], known), ...(of && { of }) }
}
