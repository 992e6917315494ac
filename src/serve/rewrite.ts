import type { Spoken } from '../tape/turn.ts'
import { rangeAt, replaceAt } from '../wire/members.ts'
import { member } from '../wire/message.ts'
import { isLegacyVersion, META, metaOf } from '../wire/methods.ts'
import { idAtEnd } from './id-range.ts'
import type { LiveNames } from './live-names.ts'
import type { Live } from './live.ts'

// Recorded bytes are spliced, never parsed and written anew: key order, number spelling and escapes survive.

/** The recorded answer, as an answer to the live request. */
export function liveResponse(response: Spoken, trigger: Spoken | undefined, live: Live): string {
  const { start, end } = response.id ??
    idAtEnd(response.text) ??
    rangeAt(response.text, ['id']) ?? { start: 0, end: 0 }
  const text = response.text.slice(0, start) + live.id + response.text.slice(end)
  const version = live.message.method === 'initialize' ? liveVersion(response, trigger, live) : undefined
  if (version !== undefined) return replaceAt(text, ['result', 'protocolVersion'], JSON.stringify(version))
  if (live.message.method !== 'subscriptions/listen') return text
  return replaceAt(text, ['result', '_meta', META.subscriptionId], live.id)
}

/** The recorded notification with the live client's names in it; none when it names what the live client never opened. */
export function liveNotification(
  notification: Spoken,
  { trigger, live, names }: { trigger: Spoken | undefined; live: Live | undefined; names: LiveNames },
): string | undefined {
  const { message, text } = notification
  const { method, params } = message.kind === 'notification' ? message : { method: '', params: undefined }
  if (method === 'notifications/progress') return liveProgress(notification, params, trigger, live)
  if (method === 'notifications/cancelled') return liveCancellation(notification, params, names)
  const subscription = metaOf(params, META.subscriptionId)
  if (subscription === undefined) return text
  const name = names.subscription(notification, subscription)
  return name === undefined ? undefined : replaceAt(text, ['params', '_meta', META.subscriptionId], name)
}

/**
 * The version to answer `initialize` in, when it is not the recorded one. A server that spoke the version it was asked for
 * would do so again for an older one that is asked for now; one that chose its own would choose it again.
 */
export function liveVersion(
  response: Spoken,
  trigger: Spoken | undefined,
  { message }: Live,
): string | undefined {
  const asked = member(message.params, 'protocolVersion')
  const spoken =
    'outcome' in response.message && 'result' in response.message.outcome
      ? response.message.outcome.result
      : undefined
  const answered = member(spoken, 'protocolVersion')
  const askedThen =
    trigger !== undefined && 'params' in trigger.message
      ? member(trigger.message.params, 'protocolVersion')
      : undefined
  if (typeof asked !== 'string' || !isLegacyVersion(asked)) return undefined
  return askedThen === answered && typeof answered === 'string' && asked < answered ? asked : undefined
}

// A recorded token means nothing to the live client, or something else: only its own token is ever sent.
function liveProgress(
  { text }: Spoken,
  params: unknown,
  trigger: Spoken | undefined,
  live: Live | undefined,
): string | undefined {
  const isForTrigger = member(params, 'progressToken') === recordedMeta(trigger, META.progressToken)
  if (!isForTrigger || live?.progressToken === undefined) return undefined
  return replaceAt(text, ['params', 'progressToken'], live.progressToken)
}

function liveCancellation(notification: Spoken, params: unknown, names: LiveNames): string | undefined {
  const id = member(params, 'requestId')
  const name = names.ask(notification, id) ?? names.subscription(notification, id)
  return name === undefined ? undefined : replaceAt(notification.text, ['params', 'requestId'], name)
}

function recordedMeta(trigger: Spoken | undefined, key: string): unknown {
  return trigger !== undefined && 'params' in trigger.message
    ? metaOf(trigger.message.params, key)
    : undefined
}
