import type { Direction } from '../wire/direction.ts'
import { idKey } from '../wire/id.ts'
import type { Message } from '../wire/message.ts'

const ASKED_BY_SERVER: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
])
const TOLD_BY_CLIENT: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
])

/** Who sent each message of a recording that does not say so: requests are told apart by method, answers go back to who asked. */
export class Directions {
  /** By the key of the id: who asked last under it. */
  readonly #asked = new Map<string, Direction>()

  of(message: Message): Direction {
    if (message.kind === 'notification') return TOLD_BY_CLIENT.has(message.method) ? 'c2s' : 's2c'
    if (message.kind === 'request') {
      const dir = ASKED_BY_SERVER.has(message.method) ? 's2c' : 'c2s'
      this.#asked.set(idKey(message.id), dir)
      return dir
    }
    if (message.kind !== 'response' || message.id === null) return 's2c'
    return this.#asked.get(idKey(message.id)) === 's2c' ? 'c2s' : 's2c'
  }
}
