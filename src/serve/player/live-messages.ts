import { findRange, replaceValue } from '../../json/find-replace.ts'
import { findId, replaceId } from '../../protocol/find-id.ts'
import {
  idKey,
  isId,
  type Message,
  type Notification,
  type Request,
  META_KEYS,
  metaValue,
  LOG_LEVELS,
} from '../../protocol/message.ts'
import { member } from '../../json/parse.ts'
import { sessionVersions } from '../../protocol/revisions/index.ts'
import type { RecordedMessage, Turn } from '../../tape/turns.ts'

// Recorded messages as the live client gets them. Their bytes are spliced and never serialized again, so that key order,
// number spelling and escapes survive.

/** A message of the live client. Its id and progress token are kept as the bytes that the client sent. */
export interface LiveMessage {
  readonly text: string
  /** The id as JSON; `null` for a notification. */
  readonly id: string
  readonly progressToken: string | undefined
  readonly message: Request | Notification
}

export interface LiveRequest extends LiveMessage {
  readonly message: Request
}

export function toLiveRequest(text: string, message: Request): LiveRequest {
  return { text, id: idBytes(text), progressToken: progressTokenIn(text, message), message }
}

export function toLiveNotification(text: string, message: Notification): LiveMessage {
  return { text, id: 'null', progressToken: progressTokenIn(text, message), message }
}

function progressTokenIn(text: string, { params }: Request | Notification): string | undefined {
  if (metaValue(params, META_KEYS.progressToken) === undefined) return undefined
  return bytesAt(text, ['params', '_meta', META_KEYS.progressToken])
}

function idBytes(text: string): string {
  const range = findId(text)
  return range === undefined ? 'null' : text.slice(range.start, range.end)
}

function bytesAt(text: string, path: readonly string[]): string | undefined {
  const range = findRange(text, path)
  return range === undefined ? undefined : text.slice(range.start, range.end)
}

/** Returns a recorded response as the response to the live request. */
export function liveResponse(
  response: RecordedMessage,
  trigger: RecordedMessage | undefined,
  live: LiveMessage,
): string {
  const text = replaceId(response.text, live.id, response.id)
  const { method } = live.message
  if (method === 'subscriptions/listen')
    return replaceValue(text, ['result', '_meta', META_KEYS.subscriptionId], live.id)
  const version = method === 'initialize' ? downgradedVersion(response, trigger, live) : undefined
  if (version === undefined) return text
  return replaceValue(text, ['result', 'protocolVersion'], JSON.stringify(version))
}

/**
 * Returns the version to answer `initialize` in if it is not the recorded one. A server that accepted the version it was asked
 * for would also accept an older one; a server that chose its own version would choose it again.
 */
export function downgradedVersion(
  response: RecordedMessage,
  trigger: RecordedMessage | undefined,
  { message }: LiveMessage,
): string | undefined {
  const requested = member(message.params, 'protocolVersion')
  if (typeof requested !== 'string' || !sessionVersions().includes(requested)) return undefined
  const answered = member(member(outcomeIn(response), 'result'), 'protocolVersion')
  const requestedThen = member(paramsOf(trigger?.message), 'protocolVersion')
  const wasAccepted = requestedThen === answered && typeof answered === 'string'
  return wasAccepted && requested < answered ? requested : undefined
}

function outcomeIn({ message }: RecordedMessage): unknown {
  return message.kind === 'response' ? message.outcome : undefined
}

function paramsOf(message: Message | undefined): unknown {
  return message !== undefined && 'params' in message ? message.params : undefined
}

/**
 * Returns a recorded notification with the ids and tokens of the live client. Returns `undefined` if it belongs to something
 * that the live client has not started.
 */
export function liveNotification(
  notification: RecordedMessage,
  trigger: RecordedMessage | undefined,
  live: LiveMessage | undefined,
  ids: LiveIds,
): string | undefined {
  const { message, text } = notification
  const { method, params } = message.kind === 'notification' ? message : { method: '', params: undefined }
  if (method === 'notifications/progress') return liveProgress(notification, params, trigger, live)
  if (method === 'notifications/cancelled') return liveCancellation(notification, params, ids)
  const subscription = metaValue(params, META_KEYS.subscriptionId)
  if (subscription === undefined) return text
  const id = ids.subscription(notification, subscription)
  return id === undefined ? undefined : replaceValue(text, ['params', '_meta', META_KEYS.subscriptionId], id)
}

// A recorded token means nothing to the live client, or something else: only its own token is ever sent.
function liveProgress(
  { text }: RecordedMessage,
  params: unknown,
  trigger: RecordedMessage | undefined,
  live: LiveMessage | undefined,
): string | undefined {
  const recordedToken = metaValue(paramsOf(trigger?.message), META_KEYS.progressToken)
  if (member(params, 'progressToken') !== recordedToken || live?.progressToken === undefined) return undefined
  return replaceValue(text, ['params', 'progressToken'], live.progressToken)
}

function liveCancellation(notification: RecordedMessage, params: unknown, ids: LiveIds): string | undefined {
  const recorded = member(params, 'requestId')
  const id = ids.serverRequest(notification, recorded) ?? ids.subscription(notification, recorded)
  return id === undefined ? undefined : replaceValue(notification.text, ['params', 'requestId'], id)
}

/** The live ids of subscriptions, which the client chose, and of server requests, which Reelay chose. All are JSON. */
export class LiveIds {
  readonly #subscriptions = new Map<string, string>()
  readonly #serverRequests = new Map<string, string>()

  setSubscription(request: RecordedMessage, live: string): void {
    this.#subscriptions.set(recordedIdKey(request, requestIdOf(request)), live)
  }

  setServerRequest(request: RecordedMessage, live: string): void {
    this.#serverRequests.set(recordedIdKey(request, requestIdOf(request)), live)
  }

  /** `id` is the recorded id, as a message of the same connection names it. */
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

/** Identifies a recorded request: its id is unique only within its connection. */
export function recordedIdKey({ server, conn }: RecordedMessage, id: unknown): string {
  return JSON.stringify([server, conn, isId(id) ? idKey(id) : null])
}

/** What the live client has subscribed to: log messages from some level on, and updates of resources. */
export class ClientSubscriptions {
  /** Resources with a recorded subscription. Updates of other resources were sent without one. */
  readonly #recorded: ReadonlySet<unknown>
  readonly #subscribed = new Set<unknown>()
  #level: unknown

  /** `subscriptions` are the turns of `resources/subscribe`. */
  constructor(subscriptions: readonly Turn[]) {
    this.#recorded = new Set(subscriptions.map(({ trigger }) => uriIn(trigger?.message)))
  }

  /** Takes a request that is about to be answered. */
  observe(request: Request): void {
    const { method, params } = request
    if (method === 'logging/setLevel') this.#level = member(params, 'level')
    if (method === 'resources/subscribe') this.#subscribed.add(uriIn(request))
    if (method === 'resources/unsubscribe') this.#subscribed.delete(uriIn(request))
  }

  /** True if the live client should get a recorded notification. `trigger` and `live` are the requests it belongs to. */
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

  // 2026-07-28: log messages are sent only for a request that asks for them.
  #wantsLog(params: unknown, trigger: RecordedMessage | undefined, live: LiveMessage | undefined): boolean {
    const level = member(params, 'level')
    if (requestedLogLevel(trigger?.message) === undefined || live === undefined)
      return this.#level === undefined || isAtLeast(level, this.#level)
    const requested = requestedLogLevel(live.message)
    return requested !== undefined && isAtLeast(level, requested)
  }
}

/** Unknown levels are never held back. */
function isAtLeast(level: unknown, wanted: unknown): boolean {
  return !LOG_LEVELS.includes(level) || LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted)
}

function requestedLogLevel(message: Message | undefined): unknown {
  return metaValue(paramsOf(message), META_KEYS.logLevel)
}

function uriIn(message: Message | undefined): unknown {
  return member(paramsOf(message), 'uri')
}
