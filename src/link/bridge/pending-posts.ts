import { isId, type Id, idKey } from '../../protocol/id.ts'
import { revisionOfRequest } from '../../protocol/revisions/index.ts'
import { member, type Message } from '../../protocol/message.ts'

/** One POST, until its answers are there. */
export interface PendingPost {
  readonly message: Message
  readonly owed: UnansweredIds
  readonly abort: AbortController
}

/** The POSTs that are under way, and what the server owes them. */
export class PendingPosts {
  readonly #posts = new Set<PendingPost>()

  /** Whether somebody still waits for an answer. A subscription lasts as long as its client and does not count. */
  get isAwaitingResponses(): boolean {
    return [...this.#posts].some(({ message, owed }) => !owed.isSettled && !isSubscription(message))
  }

  add(post: PendingPost): void {
    this.#posts.add(post)
  }

  delete(post: PendingPost): void {
    this.#posts.delete(post)
  }

  /** The message that this answers, where one waits for it. */
  settle(id: Id): Message | undefined {
    const post = this.#postFor(id)
    post?.owed.settle(id)
    return post?.message
  }

  /**
   * Takes back what a `notifications/cancelled` names, and says whether that is all: in the modern era leaving is how it is
   * done; in the legacy era the server is told, and owes nothing more.
   */
  cancel(message: Message): boolean {
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return false
    const id = member(message.params, 'requestId')
    const post = isId(id) ? this.#postFor(id) : undefined
    if (post === undefined || !isId(id)) return false
    post.owed.settle(id)
    if (!('params' in post.message) || !revisionOfRequest(post.message.params).closingCancels) return false
    post.abort.abort()
    return true
  }

  abortAll(): void {
    for (const { abort } of this.#posts) abort.abort()
  }

  #postFor(id: Id): PendingPost | undefined {
    return [...this.#posts].find(({ owed }) => owed.has(id))
  }
}

function isSubscription(message: Message): boolean {
  return message.kind === 'request' && message.method === 'subscriptions/listen'
}

/** The answers that one POST is owed. */
export class UnansweredIds {
  readonly #ids = new Map<string, Id>()
  readonly #onSettled: (() => void) | undefined

  /** `onSettled` is told when the last of them is there. */
  constructor(message: Message, onSettled?: () => void) {
    this.#onSettled = onSettled
    for (const item of message.kind === 'batch' ? message.items : [message])
      if (item.kind === 'request') this.#ids.set(idKey(item.id), item.id)
  }

  get ids(): readonly Id[] {
    return [...this.#ids.values()]
  }

  get isSettled(): boolean {
    return this.#ids.size === 0
  }

  has(id: Id): boolean {
    return this.#ids.has(idKey(id))
  }

  /** An answer came, or is no longer wanted. */
  settle(id: Id): void {
    if (this.#ids.delete(idKey(id)) && this.isSettled) this.#onSettled?.()
  }
}
