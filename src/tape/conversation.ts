import {
  type Id,
  idKey,
  isId,
  type Notification,
  type Request,
  type Response,
  META_KEYS,
  metaValue,
} from '../protocol/message.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'
import { member } from '../json/parse.ts'
import type { RawFrame } from './frame.ts'
import type { RecordedMessage } from './turns.ts'

/** Receives the turns of a conversation. `Turn` and `Ask` are the log's own handles of a turn and of a server's request. */
export interface TurnLog<Turn, Ask> {
  /** Begins a turn, with or without a message of the client. */
  begin(trigger: RecordedMessage | undefined): Turn
  notify(turn: Turn, message: RecordedMessage): void
  ask(turn: Turn, request: RecordedMessage): Ask
  answer(ask: Ask, message: RecordedMessage): void
  respond(turn: Turn, message: RecordedMessage): void
  /** Notes that only the beginning of the response was recorded, in this frame. */
  cut(turn: Turn, frame: number): void
  /** Receives a message that belongs to no turn. */
  stray(message: RecordedMessage): void
}

/** A request without a response so far. */
interface UnansweredRequest<Turn> {
  readonly turn: Turn
  readonly x: number | undefined
  readonly mayResume: boolean
}

/**
 * Assembles the turns of one connection.
 *
 * A response belongs to the oldest unanswered request of the other side with the same id and type of id. In stateless
 * revisions over HTTP it must be in the same exchange, because ids may repeat across exchanges.
 *
 * An unsolicited message of the server belongs to the turn that its progress token, subscription id, cancelled request or
 * HTTP exchange names, whether or not that turn has its response. Otherwise it belongs to the most recent open request, then
 * to the client's last message, and finally to a turn without a trigger. A subscription only gets messages that name it.
 */
export class Conversation<Turn, Ask> {
  readonly #log: TurnLog<Turn, Ask>
  readonly #unanswered = new Map<string, UnansweredRequest<Turn>[]>()
  readonly #serverRequests = new Map<string, Ask[]>()
  readonly #byToken = new Map<string, Turn>()
  readonly #bySubscription = new Map<string, Turn>()
  readonly #byServerRequest = new Map<string, Turn>()
  readonly #byExchange = new Map<number, Turn>()
  /** Turns that are neither answered nor cancelled. Messages that name no turn are attributed to them. */
  readonly #open = new OpenTurns<Turn>()
  #lastTurn: Turn | undefined

  constructor(log: TurnLog<Turn, Ask>) {
    this.#log = log
  }

  add(recorded: RecordedMessage): void {
    const { message, dir } = recorded
    if (message.kind === 'invalid') this.#log.stray(recorded)
    else if (message.kind === 'response') this.#addResponse(recorded, message)
    else if (dir === 's2c') this.#addFromServer(recorded, message)
    else this.#addFromClient(recorded, message)
  }

  /** True if the server asked something with this id and has no answer yet. */
  isAsked(id: Id): boolean {
    return this.#serverRequests.has(idKey(id))
  }

  /** Adds a message of which only the beginning was recorded. Its id tells which request it responds to. */
  addCut({ n, x, dir, cut }: RawFrame): void {
    if (dir !== 's2c' || cut?.id === undefined || cut.method !== undefined) return
    const found = this.#takeUnanswered(idKey(cut.id), x)
    if (found !== undefined) this.#log.cut(found.turn, n)
  }

  #addFromClient(recorded: RecordedMessage, message: Request | Notification): void {
    const turn = this.#begin(recorded)
    if (recorded.x !== undefined) this.#byExchange.set(recorded.x, turn)
    if (message.kind === 'notification') return this.#closeCancelled(message)
    const unanswered = { turn, x: recorded.x, mayResume: revisionOfRequest(message.params).resumesStreams }
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

  // A response may still arrive and then counts, but other messages are no longer attributed to the request.
  #closeCancelled({ method, params }: Notification): void {
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return
    for (const { turn } of this.#unanswered.get(idKey(id)) ?? []) this.#open.close(turn)
  }

  #addFromServer(recorded: RecordedMessage, message: Request | Notification): void {
    const turn = this.#turnOf(recorded, message)
    if (message.kind === 'notification') return this.#log.notify(turn, recorded)
    listAt(this.#serverRequests, idKey(message.id)).push(this.#log.ask(turn, recorded))
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

  #addResponse(recorded: RecordedMessage, { id }: Response): void {
    const key = id === null ? '' : idKey(id)
    const answered =
      recorded.dir === 's2c' ? this.#respondToClient(recorded, key) : this.#respondToServer(recorded, key)
    if (!answered) this.#log.stray(recorded)
  }

  #respondToClient(recorded: RecordedMessage, key: string): boolean {
    const found = this.#takeUnanswered(key, recorded.x)
    if (found === undefined) return false
    this.#log.respond(found.turn, recorded)
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

  #respondToServer(recorded: RecordedMessage, key: string): boolean {
    const waiting = this.#serverRequests.get(key)
    const ask = waiting?.shift()
    if (waiting?.length === 0) this.#serverRequests.delete(key)
    if (ask !== undefined) this.#log.answer(ask, recorded)
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

// Fewer closed turns are not worth a pass over the list.
const MIN_CLOSED_TO_DROP = 32

/** The open requests of a connection. Closed ones are dropped from time to time, also if requests overlap without end. */
export class OpenTurns<Turn> {
  #turns: Turn[] = []
  /** Closed turns below an open one in the list, and closed turns that were never in it. */
  readonly #closed = new Set<Turn>()

  /** The open request that was sent last. */
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

  // Most turns are answered before the next one begins, so they are the last in the list.
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
