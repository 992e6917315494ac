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

/** A request that was forwarded to the live server, with an id that is unique on the link. */
export interface ForwardedRequest {
  readonly id: number
  /** The text that is sent over the link. */
  readonly text: string
  /** The request of the client. */
  readonly live: LiveRequest
  readonly channel: ReplyChannel
}

/** The forwarded requests. Ids and tokens of two exchanges may be equal, so each request gets its own on the link. */
export class ForwardedRequests {
  readonly #unanswered = new Map<string, ForwardedRequest>()
  readonly #byClient = new Map<string, ForwardedRequest>()
  /** Requests whose progress may still arrive. A task continues after the response that started it. */
  readonly #withProgress = new Map<string, ForwardedRequest>()
  #count = 0
  #newest: ForwardedRequest | undefined

  add(live: LiveRequest, channel: ReplyChannel): ForwardedRequest {
    const id = ++this.#count
    const forwarded = { id, live, channel, text: rewriteForLink(id, live) }
    this.#unanswered.set(idKey(id), forwarded)
    this.#byClient.set(clientKey(live.message.id, channel.scope), forwarded)
    if (live.progressToken !== undefined) this.#withProgress.set(idKey(id), forwarded)
    this.#newest = forwarded
    return forwarded
  }

  has({ id }: ForwardedRequest): boolean {
    return this.#unanswered.has(idKey(id))
  }

  /** True if a response is pending. A subscription does not count, because it may stay open. */
  get hasUnanswered(): boolean {
    return [...this.#unanswered.values()].some(({ live }) => live.message.method !== 'subscriptions/listen')
  }

  /** Returns the pending request with this id of the client. */
  byClientId(id: Id, scope: string): ForwardedRequest | undefined {
    const forwarded = this.#byClient.get(clientKey(id, scope))
    return forwarded !== undefined && this.has(forwarded) ? forwarded : undefined
  }

  byLinkId(linkId: Id): ForwardedRequest | undefined {
    return this.#unanswered.get(idKey(linkId))
  }

  byProgressToken(token: Id): ForwardedRequest | undefined {
    return this.#withProgress.get(idKey(token))
  }

  /** Removes a request that was answered or cancelled. */
  close(forwarded: ForwardedRequest, outcome?: Response['outcome']): void {
    const { id, live, channel } = forwarded
    this.#unanswered.delete(idKey(id))
    const key = clientKey(live.message.id, channel.scope)
    if (this.#byClient.get(key) === forwarded) this.#byClient.delete(key)
    if (member(member(outcome, 'result'), 'task') === undefined) this.#withProgress.delete(idKey(id))
  }

  all(): readonly ForwardedRequest[] {
    return [...this.#unanswered.values()]
  }

  /** The request that a message without a reference most likely belongs to: the newest pending one. */
  get likelySubject(): ForwardedRequest | undefined {
    return [...this.#unanswered.values()].at(-1) ?? this.#newest
  }
}

function rewriteForLink(id: number, { text, progressToken }: LiveRequest): string {
  const withId = replaceValue(text, ['id'], String(id))
  if (progressToken === undefined) return withId
  return replaceValue(withId, ['params', '_meta', META_KEYS.progressToken], String(id))
}

function clientKey(id: Id, scope: string): string {
  return `${scope}${idKey(id)}`
}

/** The requests of a live server, with new ids: its own may be in use for requests of the recorded server. */
export class UpstreamServerRequests {
  /** The id of the server as JSON, by the new id. */
  readonly #open = new Map<string, string>()
  /** The new id as JSON, by the id of the server. */
  readonly #clientIds = new Map<string, string>()
  #count = 0

  /** Returns the request with its new id. */
  add(text: string): string {
    const newId = `reelay-live-${++this.#count}`
    const range = findRange(text, ['id'])
    this.#open.set(idKey(newId), range === undefined ? 'null' : text.slice(range.start, range.end))
    const theirs = member(parseJson(text), 'id')
    if (isId(theirs)) this.#clientIds.set(idKey(theirs), JSON.stringify(newId))
    return replaceValue(text, ['id'], JSON.stringify(newId))
  }

  /** Returns the server's id, as JSON, of the request that the client answered. Returns `undefined` if there is no such request. */
  take(id: Id | null): string | undefined {
    const key = id === null ? '' : idKey(id)
    const theirs = this.#open.get(key)
    this.#open.delete(key)
    return theirs
  }

  /** Returns the new id of a server request, as JSON. */
  clientIdFor(theirs: Id): string | undefined {
    return this.#clientIds.get(idKey(theirs))
  }
}

/** A notification of the live server, rewritten for the client. */
interface ForwardedNotification {
  readonly text: string
  /** The request that it belongs to, if it names one. */
  readonly of?: ForwardedRequest
}

interface ForwardedIds {
  readonly requests: ForwardedRequests
  readonly asks: UpstreamServerRequests
}

/**
 * Rewrites a notification with the tokens and ids that the client knows. Returns `undefined` if it belongs to something that the
 * client does not wait for.
 */
export function forwardNotification(
  text: string,
  notification: Notification,
  ids: ForwardedIds,
): ForwardedNotification | undefined {
  const { method, params } = notification
  if (method === 'notifications/progress') return forwardProgress(text, params, ids)
  if (method === 'notifications/cancelled') return forwardCancellation(text, params, ids)
  const subscription = metaValue(params, META_KEYS.subscriptionId)
  const of = isId(subscription) ? ids.requests.byLinkId(subscription) : undefined
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

/** The server cancels its own request, or ends a subscription. */
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
