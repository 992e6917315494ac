import type { Direction } from '../wire/direction.ts'
import { idKey } from '../protocol/id.ts'
import type { Message } from '../protocol/message.ts'

const SERVER_REQUEST_METHODS: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
])
const CLIENT_NOTIFICATION_METHODS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
])

/** Who sent each message of a recording that does not say so: requests are told apart by method, answers go back to who asked. */
export class DirectionInference {
  /** By the key of the id: who asked last under it. */
  readonly #requesters = new Map<string, Direction>()

  directionOf(message: Message): Direction {
    if (message.kind === 'notification')
      return CLIENT_NOTIFICATION_METHODS.has(message.method) ? 'c2s' : 's2c'
    if (message.kind === 'request') {
      const dir = SERVER_REQUEST_METHODS.has(message.method) ? 's2c' : 'c2s'
      this.#requesters.set(idKey(message.id), dir)
      return dir
    }
    if (message.kind !== 'response' || message.id === null) return 's2c'
    return this.#requesters.get(idKey(message.id)) === 's2c' ? 'c2s' : 's2c'
  }
}
