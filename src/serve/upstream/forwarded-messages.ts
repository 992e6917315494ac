import { idKey, type Id } from '../../protocol/id.ts'
import { replaceValue } from '../../json/find.ts'
import { member, type Request, type Response } from '../../protocol/message.ts'
import { META_KEYS } from '../../protocol/methods.ts'
import type { ReplyRoute } from '../answering.ts'
import { toLiveMessage, type LiveMessage } from '../live.ts'

/** A request of the client on its way to the live server, under an id of the link's own. */
export interface ForwardedRequest {
  readonly id: number
  /** What goes over the link. */
  readonly text: string
  /** What the client calls it. */
  readonly live: LiveMessage
  readonly ways: ReplyRoute
}

/** The requests that were passed on. Ids and tokens of two exchanges may be the same, so on the live link each has its own. */
export class ForwardedRequests {
  readonly #unanswered = new Map<string, ForwardedRequest>()
  readonly #byClient = new Map<string, ForwardedRequest>()
  /** Those whose progress may still come; a task outlives the answer that began it. */
  readonly #withProgress = new Map<string, ForwardedRequest>()
  #count = 0
  #newest: ForwardedRequest | undefined

  add(text: string, request: Request, ways: ReplyRoute): ForwardedRequest {
    const id = ++this.#count
    const live = toLiveMessage(text, request)
    const passed = { id, live, ways, text: rewriteForLink(text, id, live) }
    this.#unanswered.set(idKey(id), passed)
    this.#byClient.set(clientKey(request.id, ways.outlet.scope), passed)
    if (live.progressToken !== undefined) this.#withProgress.set(idKey(id), passed)
    this.#newest = passed
    return passed
  }

  has({ id }: ForwardedRequest): boolean {
    return this.#unanswered.has(idKey(id))
  }

  /** Whether anyone waits for an answer; a subscription has none to wait for. */
  get hasUnanswered(): boolean {
    return [...this.#unanswered.values()].some(({ live }) => live.message.method !== 'subscriptions/listen')
  }

  /** What the client calls so and still waits for. */
  byClientId(id: Id, scope: string): ForwardedRequest | undefined {
    const passed = this.#byClient.get(clientKey(id, scope))
    return passed !== undefined && this.has(passed) ? passed : undefined
  }

  byLinkId(linkId: Id): ForwardedRequest | undefined {
    return this.#unanswered.get(idKey(linkId))
  }

  byProgressToken(token: Id): ForwardedRequest | undefined {
    return this.#withProgress.get(idKey(token))
  }

  /** It is answered, or given up. */
  close(passed: ForwardedRequest, outcome?: Response['outcome']): void {
    const { id, live, ways } = passed
    this.#unanswered.delete(idKey(id))
    const key = live.message.kind === 'request' ? clientKey(live.message.id, ways.outlet.scope) : ''
    if (this.#byClient.get(key) === passed) this.#byClient.delete(key)
    if (member(member(outcome, 'result'), 'task') === undefined) this.#withProgress.delete(idKey(id))
  }

  all(): readonly ForwardedRequest[] {
    return [...this.#unanswered.values()]
  }

  /** The one that the server most likely speaks of when it does not say. */
  get likelySubject(): ForwardedRequest | undefined {
    return [...this.#unanswered.values()].at(-1) ?? this.#newest
  }
}

function rewriteForLink(text: string, id: number, { progressToken }: LiveMessage): string {
  const named = replaceValue(text, ['id'], String(id))
  if (progressToken === undefined) return named
  return replaceValue(named, ['params', '_meta', META_KEYS.progressToken], String(id))
}

function clientKey(id: Id, scope: string): string {
  return `${scope}${idKey(id)}`
}
