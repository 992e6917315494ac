import type { Id } from '../wire/id.ts'
import type { Notification, Request } from '../wire/message.ts'

/** How a live request ended. */
export type CallEnd =
  /** `asRecorded` when every byte of the answer but its id is the recorded one. */
  | { readonly kind: 'answered'; readonly text: string; readonly asRecorded: boolean }
  | { readonly kind: 'timeout'; readonly after: number }
  | { readonly kind: 'lost'; readonly why: string }
  /** Not answered, as when it was recorded: a stream that lasts to the end, or a request that was cancelled. */
  | { readonly kind: 'open' }

/** What the server said of its own accord while a request was open. */
export interface Aside {
  readonly message: Request | Notification
  readonly text: string
  readonly at: number
}

/** The recorded answer around its id: a live answer with the same bytes needs no look inside. */
export interface ExpectedBytes {
  readonly head: string
  readonly tail: string
}

/** One request on its way through the live server. */
export class LiveCall {
  readonly id: Id
  /** The JSON text that was sent. */
  readonly text: string
  readonly sentAt: number
  readonly expected: ExpectedBytes | undefined
  readonly #asides: Aside[] = []
  #onAside: () => void = () => {}
  readonly done: Promise<CallEnd>
  endedAt: number | undefined
  #settle: (end: CallEnd) => void = () => {}
  #isOver = false

  constructor({ id, text, sentAt, expected }: Pick<LiveCall, 'id' | 'text' | 'sentAt' | 'expected'>) {
    this.id = id
    this.text = text
    this.sentAt = sentAt
    this.expected = expected
    this.done = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get asides(): readonly Aside[] {
    return this.#asides
  }

  hear(aside: Aside): void {
    if (this.#asides.length < MOST_ASIDES || !isTold(aside)) this.#asides.push(aside)
    this.#onAside()
  }

  /** Resolves when progress was told so often, the call is over, or the time is. */
  untilProgress(count: number, milliseconds: number): Promise<void> {
    const isEnough = (): boolean => this.#isOver || this.#asides.filter(isProgress).length >= count
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
    if (this.#isOver) return
    this.#isOver = true
    this.#onAside()
    this.endedAt = at
    this.#settle(end)
  }
}

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
