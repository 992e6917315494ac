import type { Id } from '../../protocol/id.ts'
import type { Message, Notification, Request } from '../../protocol/message.ts'

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
export interface InterimMessage {
  readonly message: Request | Notification
  readonly text: string
  readonly at: number
}

/** The recorded answer, and how its id is spelled: a live answer with the same bytes around its own needs no look inside. */
export interface ExpectedAnswer {
  readonly text: string
  readonly id: string
}

export interface OutgoingCall {
  /** A JSON text whose id is that of the call. */
  readonly text: string
  readonly id: Id
  readonly token: Id | undefined
  readonly expected?: ExpectedAnswer | undefined
  readonly timeout: number
  /** What the text says, where that is known already. */
  readonly message?: Message | undefined
}

/** What is told of the end of a call. */
interface CallListener {
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
  readonly sequence: number
  readonly expected: ExpectedAnswer | undefined
  #asides: InterimMessage[] | undefined
  #onMessage: (() => void) | undefined
  endedAt: number | undefined
  #end: CallEnd | undefined
  #listener: CallListener | undefined

  constructor({ id, token, text, timeout, expected }: OutgoingCall, sentAt: number, number: number) {
    this.id = id
    this.token = token
    this.text = text
    this.sentAt = sentAt
    this.due = sentAt + timeout
    this.timeout = timeout
    this.sequence = number
    this.expected = expected
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  get asides(): readonly InterimMessage[] {
    return this.#asides ?? NO_MESSAGES
  }

  /** Never rejects. */
  get done(): Promise<CallEnd> {
    return new Promise((resolve) => this.listen({ onEnd: resolve }))
  }

  /** Thousands of calls are open at once, and hardly one needs a promise, or more than one who follows it. */
  listen(follower: CallListener): void {
    if (this.#end === undefined) this.#listener = follower
    else follower.onEnd(this.#end)
  }

  addMessage(aside: InterimMessage): void {
    this.#asides ??= []
    if (this.#asides.length < MAX_INTERIM_MESSAGES || !isProgressOrLog(aside)) this.#asides.push(aside)
    this.#onMessage?.()
  }

  /** Resolves when progress was told so often, the call is over, or the time is. */
  waitForProgress(count: number, milliseconds: number): Promise<void> {
    const isEnough = (): boolean => this.isOver || this.asides.filter(isProgress).length >= count
    if (isEnough()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#onMessage = () => {
        if (!isEnough()) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  end(end: CallEnd, at: number): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#onMessage?.()
    this.endedAt = at
    this.#listener?.onEnd(end)
  }
}

const NO_MESSAGES: readonly InterimMessage[] = []

/** Progress and logs come in any number: a server that never stops telling fills no memory. */
const MAX_INTERIM_MESSAGES = 10_000

function isProgressOrLog(aside: InterimMessage): boolean {
  return isProgress(aside) || aside.message.method === 'notifications/message'
}

function isProgress({ message }: InterimMessage): boolean {
  return message.method === 'notifications/progress'
}

/** A promise that is settled from outside. */
export function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  const parts: { resolve?: (value: Value) => void } = {}
  const promise = new Promise<Value>((resolve) => (parts.resolve = resolve))
  return { promise, resolve: (value) => parts.resolve?.(value) }
}

// Our own ids count up, so that their low bits tell apart what is open at once.
const TABLE_SIZE = 1024

/**
 * The calls that wait for their answers. Most stand in a list of fixed size: a Map through which many pass leaves its outgrown
 * tables behind, and what these hold is not collected before them.
 */
export class OpenCalls implements Iterable<LiveCall> {
  readonly #table: (LiveCall | undefined)[] = Array.from({ length: TABLE_SIZE }, () => undefined)
  /** Those whose place is taken, and those whose ids are no whole numbers. */
  readonly #overflow = new Map<Id, LiveCall>()
  /** Those whose id another call has now: nothing can answer them. */
  readonly #hidden = new Set<LiveCall>()
  #last: LiveCall | undefined

  add(call: LiveCall): void {
    this.#last = call
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === undefined && !this.#overflow.has(call.id))
      this.#table[place] = call
    else this.#addFar(call)
  }

  /** Of two with one id the later. */
  get(id: Id): LiveCall | undefined {
    const far = this.#overflow.size === 0 ? undefined : this.#overflow.get(id)
    if (far !== undefined) return far
    const near = this.#table[slotOf(id)]
    return near?.id === id ? near : undefined
  }

  delete(call: LiveCall): void {
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === call) this.#table[place] = undefined
    else if (this.#overflow.get(call.id) === call) this.#overflow.delete(call.id)
    else this.#hidden.delete(call)
  }

  /** The one that was made last; of those that are open, while any is. */
  latest(): LiveCall | undefined {
    return this.#last?.isOver === true ? ([...this].at(-1) ?? this.#last) : this.#last
  }

  /** In the order in which they were made. */
  [Symbol.iterator](): Iterator<LiveCall> {
    const near = this.#table.filter((call) => call !== undefined)
    const open = [...near, ...this.#overflow.values(), ...this.#hidden]
    return open.toSorted((a, b) => a.sequence - b.sequence)[Symbol.iterator]()
  }

  #addFar(call: LiveCall): void {
    const former = this.#overflow.get(call.id)
    if (former !== undefined) this.#hidden.add(former)
    this.#overflow.set(call.id, call)
  }
}

/** -1 when it has none. */
function slotOf(id: Id): number {
  return typeof id === 'number' && id >>> 0 === id ? id % TABLE_SIZE : -1
}
