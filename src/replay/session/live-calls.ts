import type { Id, Message, Notification, Request } from '../../protocol/message.ts'

/** How a live request ended. */
export type CallEnd =
  /** `asRecorded` means that the answer has the recorded bytes, except for its id. */
  | { readonly kind: 'answered'; readonly text: string; readonly asRecorded: boolean }
  | { readonly kind: 'timeout'; readonly after: number }
  | { readonly kind: 'lost'; readonly why: string }
  /** The run was stopped before the answer came. */
  | { readonly kind: 'given-up' }
  /** Not answered, as recorded: a stream that lasts to the end, or a cancelled request. */
  | { readonly kind: 'open' }

/** A message that the server sent while a request was open. */
export interface InterimMessage {
  readonly message: Request | Notification
  readonly text: string
  readonly at: number
}

/** The recorded answer and its id as JSON text. A live answer with the same bytes around its id need not be parsed. */
export interface ExpectedAnswer {
  readonly text: string
  readonly id: string
}

export interface OutgoingCall {
  /** The JSON text, which contains the id. */
  readonly text: string
  readonly id: Id
  readonly token: Id | undefined
  readonly expected?: ExpectedAnswer | undefined
  readonly timeout: number
  /** The parsed text, if it is known already. */
  readonly message?: Message | undefined
}

/** A request to the live server. */
export class LiveCall {
  readonly id: Id
  readonly token: Id | undefined
  /** The JSON text that was sent. */
  readonly text: string
  readonly sentAt: number
  /** When the call times out, and after how many milliseconds that is. */
  readonly due: number
  readonly timeout: number
  /** Sequence number within its session. */
  readonly sequence: number
  readonly expected: ExpectedAnswer | undefined
  #asides: InterimMessage[] | undefined
  #onMessage: (() => void) | undefined
  endedAt: number | undefined
  /** How the call ended; never rejects. */
  readonly ended: Promise<CallEnd>
  #end: CallEnd | undefined
  #resolve: (end: CallEnd) => void = () => {}

  constructor({ id, token, text, timeout, expected }: OutgoingCall, sentAt: number, number: number) {
    this.id = id
    this.token = token
    this.text = text
    this.sentAt = sentAt
    this.due = sentAt + timeout
    this.timeout = timeout
    this.sequence = number
    this.expected = expected
    this.ended = new Promise((resolve) => (this.#resolve = resolve))
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  get asides(): readonly InterimMessage[] {
    return this.#asides ?? NO_MESSAGES
  }

  /** Messages that come after the answer are not part of the call. */
  addMessage(aside: InterimMessage): void {
    if (this.isOver) return
    this.#asides ??= []
    if (this.#asides.length < MAX_INTERIM_MESSAGES || !isProgressOrLog(aside)) this.#asides.push(aside)
    this.#onMessage?.()
  }

  /** Waits until progress was reported `count` times, the call has ended, or the time is up. */
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
    this.#resolve(end)
  }

  /** Resolves `ended` without an answer. The call stays open, so that a late answer is still recognized. */
  release(): void {
    this.#resolve({ kind: 'open' })
  }
}

const NO_MESSAGES: readonly InterimMessage[] = []

/** Limits progress and log messages, so that a chatty server cannot fill the memory. */
const MAX_INTERIM_MESSAGES = 10_000

function isProgressOrLog(aside: InterimMessage): boolean {
  return isProgress(aside) || aside.message.method === 'notifications/message'
}

function isProgress({ message }: InterimMessage): boolean {
  return message.method === 'notifications/progress'
}

// Ids count up, so that open calls rarely share a slot.
const TABLE_SIZE = 1024

/**
 * The calls that wait for their answers. Most are in a table of fixed size, because a Map that many calls pass through keeps
 * finished calls alive in its outgrown tables.
 */
export class OpenCalls implements Iterable<LiveCall> {
  readonly #table: (LiveCall | undefined)[] = Array.from({ length: TABLE_SIZE }, () => undefined)
  /** Calls whose slot is taken, and calls whose ids are not whole numbers. */
  readonly #overflow = new Map<Id, LiveCall>()
  /** Calls whose id was used again by a later call, so that they cannot be answered. */
  readonly #hidden = new Set<LiveCall>()
  #last: LiveCall | undefined

  add(call: LiveCall): void {
    this.#last = call
    const place = slotOf(call.id)
    if (place >= 0 && this.#table[place] === undefined && !this.#overflow.has(call.id))
      this.#table[place] = call
    else this.#addFar(call)
  }

  /** Returns the later one of two calls with the same id. */
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

  /** Returns the latest open call, or the latest of all if none is open. */
  latest(): LiveCall | undefined {
    return this.#last?.isOver === true ? ([...this].at(-1) ?? this.#last) : this.#last
  }

  /** Iterates in the order in which the calls were made. */
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

/** The slot of an id; -1 if it has none. */
function slotOf(id: Id): number {
  return typeof id === 'number' && id >>> 0 === id ? id % TABLE_SIZE : -1
}

interface HasDeadline {
  /** When the item expires; Infinity for never. */
  readonly due: number
}

interface DeadlinesOptions<Item extends HasDeadline> {
  readonly items: Iterable<Item>
  readonly onExpired: (item: Item) => void
  /** The current time in the unit of `due`. */
  readonly now: () => number
}

/** Watches the deadlines of many items with one timer. */
export class Deadlines<Item extends HasDeadline> {
  readonly #options: DeadlinesOptions<Item>
  #watched = 0
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires next. */
  #nextCheck = Infinity

  constructor(options: DeadlinesOptions<Item>) {
    this.#options = options
  }

  /** Called after an item was added to the items. */
  add({ due }: Item): void {
    if (due === Infinity) return
    this.#watched++
    if (due < this.#nextCheck) this.#checkAt(due)
    else if (this.#watched === 1) this.#timer?.ref()
  }

  /** Called after an item was removed. The timer stays for the next item, but does not keep the process alive. */
  remove({ due }: Item): void {
    if (due !== Infinity && --this.#watched === 0) this.#timer?.unref()
  }

  /** Stops the timer, which would keep the items in memory. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #checkAt(due: number): void {
    clearTimeout(this.#timer)
    this.#nextCheck = due
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(due - this.#options.now())))
    if (this.#watched === 0) this.#timer.unref()
  }

  #check(): void {
    this.#nextCheck = Infinity
    const { items, onExpired, now } = this.#options
    const [time, waiting] = [now(), [...items].toSorted((a, b) => a.due - b.due)]
    for (const item of waiting) if (item.due <= time) onExpired(item)
    const next = waiting.find(({ due }) => due > time && due !== Infinity)
    if (next !== undefined && next.due < this.#nextCheck) this.#checkAt(next.due)
  }
}
