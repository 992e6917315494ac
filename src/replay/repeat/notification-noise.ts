import { isObject, member, parseJson } from '../../json/parse.ts'
import type { Difference } from '../../diff/difference.ts'
import { shapeOf, streamOf, type ObservedNotification } from '../steps/observed-notifications.ts'
import type { StepFinding } from '../steps/step.ts'
import { LOG_LEVELS } from '../../protocol/message.ts'

/** What the server sent besides the answer to one request in one run. */
interface ObservedRun {
  readonly progress: readonly ObservedNotification[]
  /** Those that correspond to recorded ones by their keys, and new ones. */
  readonly connection: ReadonlyMap<string, ObservedNotification>
}

/**
 * What repeated runs show about the notifications of a server. It may send as many messages as fit into the time of a run, or a
 * log message that is chosen at random. Such messages are a stream: only what all of them have in common is compared, and not
 * which one comes first.
 */
export class NotificationNoise {
  readonly #runs: readonly ObservedRun[]

  /** Takes what was observed in each run, as in `ReplayStep`. */
  constructor(observed: readonly (string | undefined)[]) {
    this.#runs = observed.map(parseObserved)
  }

  explains({ layer, difference, isOneOfMany }: StepFinding): boolean {
    if (layer !== 'notifications' || difference === undefined) return false
    if (difference.path[0] === 'connection')
      return this.#hasOtherNumber(difference, isOneOfMany) || this.#isRandomMessage(difference)
    return difference.path[0] === 'notifications' && this.#hasOtherProgress(difference, isOneOfMany)
  }

  get #hasVaryingProgress(): boolean {
    return new Set(this.#runs.map(({ progress }) => progress.length)).size > 1
  }

  /** The number of reports varies, so the reports may differ in their numbers. A total that is equal in all runs is no such number. */
  #hasOtherProgress({ kind, path, expected, actual }: Difference, isOneOfMany: true | undefined): boolean {
    if (!this.#hasVaryingProgress) return false
    if (kind === 'order') return true
    if (path.length === 2) return isOneOfMany === true
    const totals = this.#runs.flatMap(({ progress }) => progress.map(({ params }) => member(params, 'total')))
    if (path.at(-1) === 'total' && new Set(totals).size < 2) return false
    return kind === 'changed' && shapeOf(expected) === shapeOf(actual)
  }

  /** The number of similar messages varies, so the next one may correspond to a recorded one. */
  #hasOtherNumber({ kind, path, expected, actual }: Difference, isOneOfMany: true | undefined): boolean {
    const message = path.length === 2 ? (expected ?? actual) : this.#messageAt(String(path[1]))
    if (isOneOfMany !== true || !isNotification(message)) return false
    const isOfStream = path.length === 2 || (kind === 'changed' && shapeOf(expected) === shapeOf(actual))
    return isOfStream && this.#hasVaryingNumber(streamOf(message))
  }

  #hasVaryingNumber(stream: string): boolean {
    const numbers = this.#runs.map(
      ({ connection }) => [...connection.values()].filter((one) => streamOf(one) === stream).length,
    )
    return new Set(numbers).size > 1
  }

  #messageAt(key: string): ObservedNotification | undefined {
    return this.#runs.map(({ connection }) => connection.get(key)).find((one) => one !== undefined)
  }

  /** A log message with another level in each run is a different message each time. It may have any text. */
  #isRandomMessage({ kind, path, actual }: Difference): boolean {
    const key = String(path[1])
    if (!this.#hasRandomLevel(key)) return false
    if (path.length === 2) return this.#runs.some(({ connection }) => !connection.has(key))
    if (path[3] === 'level') return LOG_LEVELS.includes(actual)
    return path[3] === 'data' && (path.length > 4 || kind !== 'type')
  }

  #hasRandomLevel(key: string): boolean {
    const logs = this.#runs.flatMap(({ connection }) => connection.get(key) ?? [])
    const levels = logs.filter(({ method }) => method === LOG).map(({ params }) => member(params, 'level'))
    return new Set(levels).size > 1
  }
}

const LOG = 'notifications/message'

function parseObserved(text: string | undefined): ObservedRun {
  const observed = text === undefined ? undefined : parseJson(text)
  const [progress, connection] = [member(observed, 'notifications'), member(observed, 'connection')]
  return {
    progress: Array.isArray(progress) ? progress.filter(isNotification) : [],
    connection: new Map(
      Object.entries(isObject(connection) ? connection : {}).flatMap(([key, message]) =>
        isNotification(message) ? [[key, message] as const] : [],
      ),
    ),
  }
}

function isNotification(value: unknown): value is ObservedNotification {
  return typeof member(value, 'method') === 'string'
}
