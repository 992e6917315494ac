import type { Id } from '../wire/id.ts'
import type { Message, Notification, Request } from '../wire/message.ts'

/** How a live request ended. */
export type CallEnd =
  /** `asRecorded` when every byte of the answer but its id is the recorded one. */
  | { readonly kind: 'answered'; readonly text: string; readonly asRecorded: boolean }
  | { readonly kind: 'timeout'; readonly after: number }
  | { readonly kind: 'lost'; readonly why: string }
  /** The run was stopped before it was answered. */
  | { readonly kind: 'given-up' }
  /** Not answered, as when it was recorded: a stream that lasts to the end, or a request that was cancelled. */
  | { readonly kind: 'open' }

/** What the server said of its own accord while a request was open. */
export interface Aside {
  readonly message: Request | Notification
  readonly text: string
  readonly at: number
}

/** The recorded answer, and how its id is spelled: a live answer with the same bytes around its own needs no look inside. */
export interface ExpectedBytes {
  readonly text: string
  readonly id: string
}

export interface Outgoing {
  /** A JSON text whose id is that of the call. */
  readonly text: string
  readonly id: Id
  readonly token: Id | undefined
  readonly expected?: ExpectedBytes | undefined
  readonly timeout: number
  /** What the text says, where that is known already. */
  readonly message?: Message | undefined
}

/** What is told of the end of a call. */
export interface Follower {
  onEnd(end: CallEnd): void
}

/** One request on its way through the live server. */
export class LiveCall {
  readonly id: Id
  readonly token: Id | undefined
  /** The JSON text that was sent. */
  readonly text: string
  readonly sentAt: number
  /** When it is given up, and after how many milliseconds that is. */
  readonly due: number
  readonly timeout: number
  /** The how manieth of its session it is. */
  readonly number: number
  readonly expected: ExpectedBytes | undefined
  #asides: Aside[] | undefined
  #onAside: (() => void) | undefined
  endedAt: number | undefined
  #end: CallEnd | undefined
  #follower: Follower | undefined

  constructor({ id, token, text, timeout, expected }: Outgoing, sentAt: number, number: number) {
    this.id = id
    this.token = token
    this.text = text
    this.sentAt = sentAt
    this.due = sentAt + timeout
    this.timeout = timeout
    this.number = number
    this.expected = expected
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  get asides(): readonly Aside[] {
    return this.#asides ?? NO_ASIDES
  }

  /** Never rejects. */
  get done(): Promise<CallEnd> {
    return new Promise((resolve) => this.follow({ onEnd: resolve }))
  }

  /** Thousands of calls are open at once, and hardly one needs a promise, or more than one who follows it. */
  follow(follower: Follower): void {
    if (this.#end === undefined) this.#follower = follower
    else follower.onEnd(this.#end)
  }

  hear(aside: Aside): void {
    this.#asides ??= []
    if (this.#asides.length < MOST_ASIDES || !isTold(aside)) this.#asides.push(aside)
    this.#onAside?.()
  }

  /** Resolves when progress was told so often, the call is over, or the time is. */
  untilProgress(count: number, milliseconds: number): Promise<void> {
    const isEnough = (): boolean => this.isOver || this.asides.filter(isProgress).length >= count
    if (isEnough()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#onAside = () => {
        if (!isEnough()) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  end(end: CallEnd, at: number): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#onAside?.()
    this.endedAt = at
    this.#follower?.onEnd(end)
  }
}

const NO_ASIDES: readonly Aside[] = []

/** Progress and logs come in any number: a server that never stops telling fills no memory. */
const MOST_ASIDES = 10_000

function isTold(aside: Aside): boolean {
  return isProgress(aside) || aside.message.method === 'notifications/message'
}

function isProgress({ message }: Aside): boolean {
  return message.method === 'notifications/progress'
}

/** A promise that is settled from outside. */
export function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  const parts: { resolve?: (value: Value) => void } = {}
  const promise = new Promise<Value>((resolve) => (parts.resolve = resolve))
  return { promise, resolve: (value) => parts.resolve?.(value) }
}
