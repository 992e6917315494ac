import { canonicalJson } from '../../json/canonical.ts'
import type { Message, Notification, Request } from '../../protocol/message.ts'
import { META_KEYS } from '../../protocol/message.ts'
import { isObject, member, parseJson } from '../../json/parse.ts'
import type { RecordedMessage, Turn, TurnStep } from '../../tape/turns.ts'

/** A notification of the server in the form in which it is compared: without the ids of this run. */
export interface ObservedNotification {
  readonly method: string
  readonly params?: unknown
}

/**
 * What the server reported and asked about a request before it answered. Noise is learned from its JSON text, as from the text of an answer.
 */
export interface RequestObservation {
  readonly notifications: readonly ObservedNotification[]
  /** What the server asked, by method; absent if it asked nothing. */
  readonly requests?: Readonly<Record<string, readonly ObservedRequest[]>>
  /** The last report. It is separate because the number of reports may be noise, but not how far the request came. */
  readonly lastProgress: unknown
}

/** A request of the server in the form in which it is compared: without `_meta`, which differs between runs. */
interface ObservedRequest {
  readonly params?: unknown
}

/** What the recorded server reported and asked about the request of a turn; `undefined` if it did neither. */
export function recordedObservation({ steps, response }: Turn): RequestObservation | undefined {
  const isAlone = steps.length === 0 || (steps.length === 1 && response !== undefined)
  if (isAlone) return undefined
  const asked = steps.flatMap((step) => (step.kind === 'ask' ? step.request.message : []))
  return observationOf([...progressSteps(steps).map(({ message }) => message.message), ...asked])
}

export function observationText(observation: RequestObservation | undefined): string | undefined {
  return observation && JSON.stringify(observation)
}

/** Completes the text of a step, so that the texts of two runs differ only in single messages. */
export function completeObservation(text: string | undefined): string {
  const observed = text === undefined ? {} : parseJson(text)
  return JSON.stringify({
    notifications: [],
    lastProgress: null,
    requests: {},
    connection: {},
    ...(isObject(observed) && observed),
  })
}

/** What the live server reported and asked about a request; `undefined` if it did neither. */
export function liveObservation(
  asides: readonly { readonly message: Request | Notification }[],
): RequestObservation | undefined {
  return asides.length === 0 ? undefined : observationOf(asides.map(({ message }) => message))
}

export function observedRequest({ params }: Pick<Request, 'params'>): ObservedRequest {
  if (!isObject(params)) return {}
  const { _meta, ...content } = params
  return { params: content }
}

/**
 * The recorded notifications that no request can claim for certain: all except progress before the answer. A log message, for
 * example, does not name its request, and may come just after the answer.
 */
export function connectionNotifications({ steps }: Turn): readonly RecordedMessage[] {
  const claimed = new Set<TurnStep>(progressSteps(steps))
  return steps.flatMap((step) => (step.kind === 'notify' && !claimed.has(step) ? step.message : []))
}

/** The name of a recorded notification in paths. */
export function notificationKey({ n, item }: Pick<RecordedMessage, 'n' | 'item'>): string {
  return item === undefined ? `frame-${n}` : `frame-${n}-${item}`
}

/** Removes the ids that a run gives to requests. `renamed` maps the ids of live subscriptions to the recorded ones. */
export function observedNotification(
  { method, params }: Pick<Notification, 'method' | 'params'>,
  renamed: ReadonlyMap<unknown, unknown> = NOTHING_RENAMED,
): ObservedNotification {
  if (!isObject(params)) return params === undefined ? { method } : { method, params }
  const { progressToken: _, requestId, _meta: meta, ...content } = params
  // The id of a request is known only if the request is a subscription. Any other cancelled request is a request of the server.
  const subscription =
    method === CANCELLED && renamed.has(requestId) ? { requestId: renamed.get(requestId) } : {}
  return { method, params: { ...content, ...subscription, ...observedMeta(meta, renamed) } }
}

/** The server's name is compared once, with the handshake. */
function observedMeta(meta: unknown, renamed: ReadonlyMap<unknown, unknown>): { readonly _meta?: unknown } {
  if (!isObject(meta)) return meta === undefined ? {} : { _meta: meta }
  const entries = Object.entries(meta).filter(([name]) => name !== META_KEYS.serverInfo)
  if (entries.length === 0) return {}
  const isRenamed = (name: string, value: unknown): boolean =>
    name === META_KEYS.subscriptionId && renamed.has(value)
  const known = entries.map(([name, value]) => [name, isRenamed(name, value) ? renamed.get(value) : value])
  return { _meta: Object.fromEntries(known) }
}

/**
 * Finds series of notifications that differ only in numbers and generated words, such as the reports of a timer. The result tells
 * if a notification is one of at least three such notifications, and some of them are recorded and some are live.
 */
export function findSeries(
  recorded: readonly ObservedNotification[],
  live: readonly ObservedNotification[],
): (notification: unknown) => boolean {
  const [ours, theirs] = [recorded, live].map(countShapes)
  return (notification) => {
    const shape = shapeOf(notification)
    const [then, now] = [ours?.get(shape) ?? 0, theirs?.get(shape) ?? 0]
    return then > 0 && now > 0 && then + now >= FEWEST_OF_SERIES
  }
}

function countShapes(notifications: readonly ObservedNotification[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const one of notifications) counts.set(shapeOf(one), (counts.get(shapeOf(one)) ?? 0) + 1)
  return counts
}

const FEWEST_OF_SERIES = 3

/** Equal for notifications that have the same origin, as far as they tell: the method, and the logger of log messages. */
export function streamOf({ method, params }: ObservedNotification): string {
  const logger = member(params, 'logger')
  return typeof logger === 'string' ? `${method} ${logger}` : method
}

/** Equal for values that differ only in numbers and words with digits. */
export function shapeOf(notification: unknown): string {
  return canonicalJson(notification).replaceAll(/[\w.-]*\d[\w.-]*/g, '0')
}

const NOTHING_RENAMED: ReadonlyMap<unknown, unknown> = new Map()
const CANCELLED = 'notifications/cancelled'
const PROGRESS = 'notifications/progress'

type NotifyStep = Extract<TurnStep, { kind: 'notify' }>

function progressSteps(steps: readonly TurnStep[]): readonly NotifyStep[] {
  const answer = steps.findIndex(({ kind }) => kind === 'respond')
  const before = answer < 0 ? steps : steps.slice(0, answer)
  return before.filter(isProgressStep)
}

function isProgressStep(step: TurnStep): step is NotifyStep {
  return step.kind === 'notify' && isProgress(step.message.message)
}

function isProgress(message: Message): message is Notification {
  return message.kind === 'notification' && message.method === PROGRESS
}

function observationOf(messages: readonly Message[]): RequestObservation | undefined {
  const notifications = messages.filter(isProgress).map((message) => observedNotification(message))
  const lastProgress = notifications.at(-1)?.params ?? null
  const asked = messages.filter((message) => message.kind === 'request')
  if (asked.length === 0) return notifications.length === 0 ? undefined : { notifications, lastProgress }
  const requests: Record<string, ObservedRequest[]> = {}
  for (const request of asked) (requests[request.method] ??= []).push(observedRequest(request))
  return { notifications, lastProgress, requests }
}
