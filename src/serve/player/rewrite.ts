import { findRange } from '../../json/find.ts'
import { replaceValue } from '../../json/splice.ts'
import { sessionVersions } from '../../protocol/revisions/index.ts'
import { findId, idKey, isId, replaceId } from '../../protocol/id.ts'
import { member, type Notification, type Request } from '../../protocol/message.ts'
import { META_KEYS, metaValue } from '../../protocol/methods.ts'
import type { RecordedMessage } from '../../tape/turn.ts'

// Recorded bytes are spliced, never parsed and written anew: key order, number spelling and escapes survive.

/** The recorded answer, as an answer to the live request. */
export function liveResponse(
  response: RecordedMessage,
  trigger: RecordedMessage | undefined,
  live: LiveMessage,
): string {
  const text = replaceId(response.text, live.id, response.id)
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
  if (typeof asked !== 'string' || !sessionVersions().includes(asked)) return undefined
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

/** What the live client chose itself and must get back: ids and tokens as the bytes that it sent. */
export interface LiveMessage {
  /** `null` stands in for a notification's id: nothing that needs one is sent for it. */
  readonly id: string
  readonly progressToken: string | undefined
  readonly message: Request | Notification
}

export function toLiveMessage(text: string, message: Request | Notification): LiveMessage {
  const hasToken = metaValue(message.params, META_KEYS.progressToken) !== undefined
  return {
    id: message.kind === 'request' ? idBytes(text) : 'null',
    progressToken: hasToken ? bytesAt(text, ['params', '_meta', META_KEYS.progressToken]) : undefined,
    message,
  }
}

function idBytes(text: string): string {
  const range = findId(text)
  return range === undefined ? 'null' : text.slice(range.start, range.end)
}

function bytesAt(text: string, path: readonly string[]): string | undefined {
  const range = findRange(text, path)
  return range === undefined ? undefined : text.slice(range.start, range.end)
}

/** The live names of recorded things: subscriptions, which the client names, and requests of the server, which we name. */
export class LiveIds {
  readonly #subscriptions = new Map<string, string>()
  readonly #serverRequests = new Map<string, string>()

  /** `live` is the id of the live request, as JSON. */
  setSubscription(listen: RecordedMessage, live: string): void {
    this.#subscriptions.set(recordedIdKey(listen, requestIdOf(listen)), live)
  }

  setServerRequest(request: RecordedMessage, live: string): void {
    this.#serverRequests.set(recordedIdKey(request, requestIdOf(request)), live)
  }

  /** The live name of what a message of that connection calls `id`; none when the live client has not opened it. */
  subscription(sender: RecordedMessage, id: unknown): string | undefined {
    return this.#subscriptions.get(recordedIdKey(sender, id))
  }

  serverRequest(sender: RecordedMessage, id: unknown): string | undefined {
    return this.#serverRequests.get(recordedIdKey(sender, id))
  }
}

function requestIdOf({ message }: RecordedMessage): unknown {
  return message.kind === 'request' ? message.id : undefined
}

function recordedIdKey({ server, conn }: RecordedMessage, id: unknown): string {
  return JSON.stringify([server, conn, isId(id) ? idKey(id) : null])
}
