import { idKey, isId, type Id } from '../protocol/id.ts'
import { findRange, replaceValue } from '../json/find.ts'
import { member } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/** What a live server asks, under ids of our own: its ids may be in use for what the recorded server asks. */
export class UpstreamServerRequests {
  /** By our id, the bytes of the server's. */
  readonly #open = new Map<string, string>()
  /** By the server's id, ours as JSON. */
  readonly #clientIds = new Map<string, string>()
  #count = 0

  /** The request as the client gets it. */
  add(text: string): string {
    const own = `reelay-live-${++this.#count}`
    const range = findRange(text, ['id'])
    this.#open.set(idKey(own), range === undefined ? 'null' : text.slice(range.start, range.end))
    const theirs = member(parseJson(text), 'id')
    if (isId(theirs)) this.#clientIds.set(idKey(theirs), JSON.stringify(own))
    return replaceValue(text, ['id'], JSON.stringify(own))
  }

  /** The bytes of the id under which the server waits for this answer; none when it did not ask. */
  take(id: Id | null): string | undefined {
    const key = id === null ? '' : idKey(id)
    const theirs = this.#open.get(key)
    this.#open.delete(key)
    return theirs
  }

  /** What the client calls a request of the server, as JSON. */
  clientIdFor(theirs: Id): string | undefined {
    return this.#clientIds.get(idKey(theirs))
  }
}
