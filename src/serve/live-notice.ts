import { isId } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import { member, type Notification } from '../wire/message.ts'
import { META, metaOf } from '../wire/methods.ts'
import type { LiveAsks } from './live-asks.ts'
import type { Passed, PassedRequests } from './passed-requests.ts'

/** A notification of the live server as its client is to get it. */
export interface LiveNotice {
  readonly text: string
  /** The request that it belongs to, where it says so. */
  readonly of?: Passed
}

interface Names {
  readonly requests: PassedRequests
  readonly asks: LiveAsks
}

/** Tokens, subscriptions and requests have other names on the live link than the client knows; none when the client waits for nothing of that name. */
export function liveNotice(text: string, notification: Notification, names: Names): LiveNotice | undefined {
  const { method, params } = notification
  if (method === 'notifications/progress') return progressNotice(text, params, names)
  if (method === 'notifications/cancelled') return cancelNotice(text, params, names)
  const subscription = metaOf(params, META.subscriptionId)
  const of = isId(subscription) ? names.requests.open(subscription) : undefined
  if (of === undefined) return { text }
  return { text: replaceAt(text, ['params', '_meta', META.subscriptionId], of.live.id), of }
}

function progressNotice(text: string, params: unknown, { requests }: Names): LiveNotice | undefined {
  const token = member(params, 'progressToken')
  const of = isId(token) ? requests.progressing(token) : undefined
  const known = of?.live.progressToken
  if (of === undefined || known === undefined) return undefined
  return { text: replaceAt(text, ['params', 'progressToken'], known), of }
}

/** The server takes back what it asked, or ends a subscription. */
function cancelNotice(text: string, params: unknown, { requests, asks }: Names): LiveNotice | undefined {
  const id = member(params, 'requestId')
  if (!isId(id)) return { text }
  const asked = asks.named(id)
  const of = asked === undefined ? requests.open(id) : undefined
  const known = asked ?? of?.live.id
  if (known === undefined) return undefined
  return { text: replaceAt(text, ['params', 'requestId'], known), ...(of && { of }) }
}
