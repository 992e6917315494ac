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
    this.#resolve(end)
  }

  /** Resolves `ended` without an answer. The call stays open, so that an answer is not taken for one to another request. */
  release(): void {
    this.#resolve({ kind: 'open' })
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

/** What has its time. */
interface HasDeadline {
  /** When it is over at the latest; Infinity when it may take for ever. */
  readonly due: number
}

interface DeadlinesOptions<Item extends HasDeadline> {
  /** What is watched. */
  readonly items: Iterable<Item>
  readonly onExpired: (item: Item) => void
  /** Milliseconds, as they are in `due`. */
  readonly now: () => number
}

/** How long each of many may take, watched by one timer. */
export class Deadlines<Item extends HasDeadline> {
  readonly #options: DeadlinesOptions<Item>
  #watched = 0
  #timer: NodeJS.Timeout | undefined
  /** When the timer looks next. */
  #nextCheck = Infinity

  constructor(options: DeadlinesOptions<Item>) {
    this.#options = options
  }

  /** One more is among the items. */
  add({ due }: Item): void {
    if (due === Infinity) return
    this.#watched++
    if (due < this.#nextCheck) this.#checkAt(due)
    else if (this.#watched === 1) this.#timer?.ref()
  }

  /** It is no longer among them. The timer stays for the next, and does not keep the process alive. */
  remove({ due }: Item): void {
    if (due !== Infinity && --this.#watched === 0) this.#timer?.unref()
  }

  /** Nothing is watched any more: a timer that waits holds all that its items know. */
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
