import { idKey, type Id } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import { member, type Request, type Response } from '../wire/message.ts'
import { META } from '../wire/methods.ts'
import type { Ways } from './answering.ts'
import { liveOf, type Live } from './live.ts'

/** A request of the client on its way to the live server, under an id of the link's own. */
export interface Passed {
  readonly id: number
  /** What goes over the link. */
  readonly text: string
  /** What the client calls it. */
  readonly live: Live
  readonly ways: Ways
}

/** The requests that were passed on. Ids and tokens of two exchanges may be the same, so on the live link each has its own. */
export class PassedRequests {
  readonly #open = new Map<string, Passed>()
  readonly #byClient = new Map<string, Passed>()
  /** Those whose progress may still come; a task outlives the answer that began it. */
  readonly #progressing = new Map<string, Passed>()
  #count = 0
  #newest: Passed | undefined

  add(text: string, request: Request, ways: Ways): Passed {
    const id = ++this.#count
    const live = liveOf(text, request)
    const passed = { id, live, ways, text: onLink(text, id, live) }
    this.#open.set(idKey(id), passed)
    this.#byClient.set(clientKey(request.id, ways.outlet.scope), passed)
    if (live.progressToken !== undefined) this.#progressing.set(idKey(id), passed)
    this.#newest = passed
    return passed
  }

  has({ id }: Passed): boolean {
    return this.#open.has(idKey(id))
  }

  /** Whether anyone waits for an answer; a subscription has none to wait for. */
  get isOwing(): boolean {
    return [...this.#open.values()].some(({ live }) => live.message.method !== 'subscriptions/listen')
  }

  /** What the client calls so and still waits for. */
  named(id: Id, scope: string): Passed | undefined {
    const passed = this.#byClient.get(clientKey(id, scope))
    return passed !== undefined && this.has(passed) ? passed : undefined
  }

  open(linkId: Id): Passed | undefined {
    return this.#open.get(idKey(linkId))
  }

  progressing(token: Id): Passed | undefined {
    return this.#progressing.get(idKey(token))
  }

  /** It is answered, or given up. */
  close(passed: Passed, outcome?: Response['outcome']): void {
    const { id, live, ways } = passed
    this.#open.delete(idKey(id))
    const key = live.message.kind === 'request' ? clientKey(live.message.id, ways.outlet.scope) : ''
    if (this.#byClient.get(key) === passed) this.#byClient.delete(key)
    if (member(member(outcome, 'result'), 'task') === undefined) this.#progressing.delete(idKey(id))
  }

  all(): readonly Passed[] {
    return [...this.#open.values()]
  }

  /** The one that the server most likely speaks of when it does not say. */
  get likeliest(): Passed | undefined {
    return [...this.#open.values()].at(-1) ?? this.#newest
  }
}

function onLink(text: string, id: number, { progressToken }: Live): string {
  const named = replaceAt(text, ['id'], String(id))
  if (progressToken === undefined) return named
  return replaceAt(named, ['params', '_meta', META.progressToken], String(id))
}

function clientKey(id: Id, scope: string): string {
  return `${scope}${idKey(id)}`
}
