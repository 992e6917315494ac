import { isId } from '../protocol/id.ts'
import { replaceValue } from '../json/find.ts'
import { member, type Notification } from '../protocol/message.ts'
import { META_KEYS, metaValue } from '../protocol/methods.ts'
import type { UpstreamServerRequests } from './live-asks.ts'
import type { ForwardedRequest, ForwardedRequests } from './upstream/forwarded-messages.ts'

/** A notification of the live server as its client is to get it. */
export interface ForwardedNotification {
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
