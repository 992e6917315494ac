import { idKey, isId } from '../protocol/id.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'
import { member, type Notification, type Request, type Response } from '../protocol/message.ts'
import { META_KEYS, metaValue } from '../protocol/methods.ts'
import type { RawFrame } from './frame.ts'
import type { RecordedMessage } from './turn.ts'

/** Where a conversation writes down its turns: `Turn` and `Ask` are whatever the log knows them by. */
export interface TurnLog<Turn, Ask> {
  /** A turn begins: with a message of the client, or with none. */
  begin(trigger: RecordedMessage | undefined): Turn
  notify(turn: Turn, message: RecordedMessage): void
  ask(turn: Turn, request: RecordedMessage): Ask
  answer(ask: Ask, message: RecordedMessage): void
  respond(turn: Turn, message: RecordedMessage): void
  /** Of the answer to a turn only the beginning was kept, in this frame. */
  cut(turn: Turn, frame: number): void
  /** What belongs to no turn. */
  stray(message: RecordedMessage): void
}

/** A request that the server has not answered yet. */
interface UnansweredRequest<Turn> {
  readonly turn: Turn
  readonly x: number | undefined
  readonly mayResume: boolean
}

/**
 * The turns of one connection.
 *
 * An answer goes to the oldest unanswered request of the other side with its typed id; on modern HTTP only within the exchange,
 * because ids may repeat across exchanges. What the server sends of its own accord belongs to the turn that its progress token,
 * subscription id, cancelled request or HTTP exchange names, answered or not; else to the most recently sent request that is
 * still open; else to the client's last message; else to a turn without trigger. A subscription gets only what names it.
 */
export class Conversation<Turn, Ask> {
  readonly #log: TurnLog<Turn, Ask>
  readonly #unanswered = new Map<string, UnansweredRequest<Turn>[]>()
  readonly #serverRequests = new Map<string, Ask[]>()
  readonly #byToken = new Map<string, Turn>()
  readonly #bySubscription = new Map<string, Turn>()
  readonly #byServerRequest = new Map<string, Turn>()
  readonly #byExchange = new Map<number, Turn>()
  /** Neither answered nor cancelled: what names no turn is taken for their doing. */
  readonly #open = new OpenTurns<Turn>()
  #lastTurn: Turn | undefined

  constructor(log: TurnLog<Turn, Ask>) {
    this.#log = log
  }

  add(spoken: RecordedMessage): void {
    const { message, dir } = spoken
    if (message.kind === 'invalid') this.#log.stray(spoken)
    else if (message.kind === 'response') this.#addResponse(spoken, message)
    else if (dir === 's2c') this.#addFromServer(spoken, message)
    else this.#addFromClient(spoken, message)
  }

  /** The beginning of a message: of an answer it is still known whose it was. */
  addCut({ n, x, dir, cut }: RawFrame): void {
    if (dir !== 's2c' || cut?.id === undefined || cut.method !== undefined) return
    const found = this.#takeUnanswered(idKey(cut.id), x)
    if (found !== undefined) this.#log.cut(found.turn, n)
  }

  #addFromClient(spoken: RecordedMessage, message: Request | Notification): void {
    const turn = this.#begin(spoken)
    if (spoken.x !== undefined) this.#byExchange.set(spoken.x, turn)
    if (message.kind === 'notification') return this.#closeCancelled(message)
    const unanswered = { turn, x: spoken.x, mayResume: revisionOfRequest(message.params).resumesStreams }
    listAt(this.#unanswered, idKey(message.id)).push(unanswered)
    const token = metaValue(message.params, META_KEYS.progressToken)
    if (isId(token)) this.#byToken.set(idKey(token), turn)
    if (message.method === 'subscriptions/listen') this.#bySubscription.set(idKey(message.id), turn)
    else this.#open.add(turn)
  }

  #begin(trigger: RecordedMessage | undefined): Turn {
    const turn = this.#log.begin(trigger)
    this.#lastTurn = turn
    return turn
  }

  // Its answer may still come, and then counts; but nothing else is taken for its doing.
  #closeCancelled({ method, params }: Notification): void {
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return
    for (const { turn } of this.#unanswered.get(idKey(id)) ?? []) this.#open.close(turn)
  }

  #addFromServer(spoken: RecordedMessage, message: Request | Notification): void {
    const turn = this.#turnOf(spoken, message)
    if (message.kind === 'notification') return this.#log.notify(turn, spoken)
    listAt(this.#serverRequests, idKey(message.id)).push(this.#log.ask(turn, spoken))
    this.#byServerRequest.set(idKey(message.id), turn)
  }

  #turnOf({ x }: RecordedMessage, message: Request | Notification): Turn {
    const named = message.kind === 'notification' ? this.#turnNamedBy(message) : undefined
    const inExchange = x === undefined ? undefined : this.#byExchange.get(x)
    return named ?? inExchange ?? this.#open.mostRecent ?? this.#lastTurn ?? this.#begin(undefined)
  }

  #turnNamedBy({ method, params }: Notification): Turn | undefined {
    const subscription = metaValue(params, META_KEYS.subscriptionId)
    if (isId(subscription)) return this.#bySubscription.get(idKey(subscription))
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(idKey(token))
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return undefined
    return this.#byServerRequest.get(idKey(id)) ?? this.#bySubscription.get(idKey(id))
  }

  #addResponse(spoken: RecordedMessage, { id }: Response): void {
    const key = id === null ? '' : idKey(id)
    const answered =
      spoken.dir === 's2c' ? this.#respondToClient(spoken, key) : this.#respondToServer(spoken, key)
    if (!answered) this.#log.stray(spoken)
  }

  #respondToClient(spoken: RecordedMessage, key: string): boolean {
    const found = this.#takeUnanswered(key, spoken.x)
    if (found === undefined) return false
    this.#log.respond(found.turn, spoken)
    return true
  }

  #takeUnanswered(key: string, exchange: number | undefined): UnansweredRequest<Turn> | undefined {
    const waiting = this.#unanswered.get(key) ?? []
    const found = waiting.find(({ x }) => x === exchange) ?? waiting.find(mayBeAnsweredElsewhere)
    if (found === undefined) return undefined
    if (waiting.length === 1) this.#unanswered.delete(key)
    else waiting.splice(waiting.indexOf(found), 1)
    this.#open.close(found.turn)
    return found
  }

  #respondToServer(spoken: RecordedMessage, key: string): boolean {
    const waiting = this.#serverRequests.get(key)
    const ask = waiting?.shift()
    if (waiting?.length === 0) this.#serverRequests.delete(key)
    if (ask !== undefined) this.#log.answer(ask, spoken)
    return ask !== undefined
  }
}

// The rest of a resumed stream comes in another exchange.
function mayBeAnsweredElsewhere<Turn>({ x, mayResume }: UnansweredRequest<Turn>): boolean {
  return x === undefined || mayResume
}

function listAt<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}

// So few that are over are not worth a look through the rest.
const MIN_CLOSED_TO_DROP = 32

/** The requests of a connection that are open. Where calls overlap all the time, those that are over are let go of as well. */
export class OpenTurns<Turn> {
  #turns: Turn[] = []
  /** Those that lie below an open one, and some that were never here. */
  readonly #closed = new Set<Turn>()

  /** The one that was sent last. */
  get mostRecent(): Turn | undefined {
    let turn = this.#turns.at(-1)
    while (turn !== undefined && this.#closed.delete(turn)) {
      this.#turns.pop()
      turn = this.#turns.at(-1)
    }
    return turn
  }

  add(turn: Turn): void {
    this.#turns.push(turn)
  }

  // Most turns are answered before the next begins: those need not be remembered as over.
  close(turn: Turn): void {
    if (this.#turns.at(-1) === turn) this.#turns.pop()
    else this.#closed.add(turn)
    if (this.#closed.size > Math.max(MIN_CLOSED_TO_DROP, this.#turns.length / 2)) this.#dropClosed()
  }

  #dropClosed(): void {
    this.#turns = this.#turns.filter((turn) => !this.#closed.has(turn))
    this.#closed.clear()
  }
}
