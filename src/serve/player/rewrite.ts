import type { RecordedMessage } from '../../tape/turn.ts'
import { findRange, replaceValue } from '../../json/find.ts'
import { member } from '../../protocol/message.ts'
import { isLegacyVersion, META_KEYS, metaValue } from '../../protocol/methods.ts'
import { findIdAtEnd } from '../../protocol/find-id-in-text.ts'
import type { LiveIds } from '../live-names.ts'
import type { LiveMessage } from '../live.ts'

// Recorded bytes are spliced, never parsed and written anew: key order, number spelling and escapes survive.

/** The recorded answer, as an answer to the live request. */
export function liveResponse(
  response: RecordedMessage,
  trigger: RecordedMessage | undefined,
  live: LiveMessage,
): string {
  const { start, end } = response.id ??
    findIdAtEnd(response.text) ??
    findRange(response.text, ['id']) ?? { start: 0, end: 0 }
  const text = response.text.slice(0, start) + live.id + response.text.slice(end)
  const version =
    live.message.method === 'initialize' ? downgradedVersion(response, trigger, live) : undefined
  if (version !== undefined) return replaceValue(text, ['result', 'protocolVersion'], JSON.stringify(version))
  if (live.message.method !== 'subscriptions/listen') return text
  return replaceValue(text, ['result', '_meta', META_KEYS.subscriptionId], live.id)
}

/** The recorded notification with the live client's names in it; none when it names what the live client never opened. */
export function liveNotification(
  notification: RecordedMessage,
  {
    trigger,
    live,
    names,
  }: { trigger: RecordedMessage | undefined; live: LiveMessage | undefined; names: LiveIds },
): string | undefined {
  const { message, text } = notification
  const { method, params } = message.kind === 'notification' ? message : { method: '', params: undefined }
  if (method === 'notifications/progress') return liveProgress(notification, params, trigger, live)
  if (method === 'notifications/cancelled') return liveCancellation(notification, params, names)
  const subscription = metaValue(params, META_KEYS.subscriptionId)
  if (subscription === undefined) return text
  const name = names.subscription(notification, subscription)
  return name === undefined
    ? undefined
    : replaceValue(text, ['params', '_meta', META_KEYS.subscriptionId], name)
}

/**
 * The version to answer `initialize` in, when it is not the recorded one. A server that spoke the version it was asked for
 * would do so again for an older one that is asked for now; one that chose its own would choose it again.
 */
export function downgradedVersion(
  response: RecordedMessage,
  trigger: RecordedMessage | undefined,
  { message }: LiveMessage,
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
  { text }: RecordedMessage,
  params: unknown,
  trigger: RecordedMessage | undefined,
  live: LiveMessage | undefined,
): string | undefined {
  const isForTrigger = member(params, 'progressToken') === recordedMeta(trigger, META_KEYS.progressToken)
  if (!isForTrigger || live?.progressToken === undefined) return undefined
  return replaceValue(text, ['params', 'progressToken'], live.progressToken)
}

function liveCancellation(
  notification: RecordedMessage,
  params: unknown,
  names: LiveIds,
): string | undefined {
  const id = member(params, 'requestId')
  const name = names.serverRequest(notification, id) ?? names.subscription(notification, id)
  return name === undefined ? undefined : replaceValue(notification.text, ['params', 'requestId'], name)
}

function recordedMeta(trigger: RecordedMessage | undefined, key: string): unknown {
  return trigger !== undefined && 'params' in trigger.message
    ? metaValue(trigger.message.params, key)
    : undefined
}
