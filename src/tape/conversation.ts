import { idKey, isId } from '../wire/id.ts'
import { member, type Notification, type Request, type Response } from '../wire/message.ts'
import { isEnveloped, META, metaOf } from '../wire/methods.ts'
import type { RawFrame } from './frame.ts'
import { OpenTurns } from './open-turns.ts'
import type { Spoken } from './turn.ts'

/** Where a conversation writes down its turns: `Turn` and `Ask` are whatever the log knows them by. */
export interface TurnLog<Turn, Ask> {
  /** A turn begins: with a message of the client, or with none. */
  begin(trigger: Spoken | undefined): Turn
  notify(turn: Turn, message: Spoken): void
  ask(turn: Turn, request: Spoken): Ask
  answer(ask: Ask, message: Spoken): void
  respond(turn: Turn, message: Spoken): void
  /** Of the answer to a turn only the beginning was kept, in this frame. */
  cut(turn: Turn, frame: number): void
  /** What belongs to no turn. */
  stray(message: Spoken): void
}

/** A request that the server has not answered yet. */
interface Unanswered<Turn> {
  readonly turn: Turn
  readonly x: number | undefined
  readonly isEnveloped: boolean
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
  readonly #unanswered = new Map<string, Unanswered<Turn>[]>()
  readonly #asks = new Map<string, Ask[]>()
  readonly #byToken = new Map<string, Turn>()
  readonly #bySubscription = new Map<string, Turn>()
  readonly #byAsk = new Map<string, Turn>()
  readonly #byExchange = new Map<number, Turn>()
  /** Neither answered nor cancelled: what names no turn is taken for their doing. */
  readonly #open = new OpenTurns<Turn>()
  #last: Turn | undefined

  constructor(log: TurnLog<Turn, Ask>) {
    this.#log = log
  }

  add(spoken: Spoken): void {
    const { message, dir } = spoken
    if (message.kind === 'invalid') this.#log.stray(spoken)
    else if (message.kind === 'response') this.#answer(spoken, message)
    else if (dir === 's2c') this.#hear(spoken, message)
    else this.#speak(spoken, message)
  }

  /** The beginning of a message: of an answer it is still known whose it was. */
  addCut({ n, x, dir, cut }: RawFrame): void {
    if (dir !== 's2c' || cut?.id === undefined || cut.method !== undefined) return
    const found = this.#takeUnanswered(idKey(cut.id), x)
    if (found !== undefined) this.#log.cut(found.turn, n)
  }

  #speak(spoken: Spoken, message: Request | Notification): void {
    const turn = this.#begin(spoken)
    if (spoken.x !== undefined) this.#byExchange.set(spoken.x, turn)
    if (message.kind === 'notification') return this.#noteCancelled(message)
    const unanswered = { turn, x: spoken.x, isEnveloped: isEnveloped(message.params) }
    listIn(this.#unanswered, idKey(message.id)).push(unanswered)
    const token = metaOf(message.params, META.progressToken)
    if (isId(token)) this.#byToken.set(idKey(token), turn)
    if (message.method === 'subscriptions/listen') this.#bySubscription.set(idKey(message.id), turn)
    else this.#open.add(turn)
  }

  #begin(trigger: Spoken | undefined): Turn {
    const turn = this.#log.begin(trigger)
    this.#last = turn
    return turn
  }

  // Its answer may still come, and then counts; but nothing else is taken for its doing.
  #noteCancelled({ method, params }: Notification): void {
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return
    for (const { turn } of this.#unanswered.get(idKey(id)) ?? []) this.#open.close(turn)
  }

  #hear(spoken: Spoken, message: Request | Notification): void {
    const turn = this.#turnOf(spoken, message)
    if (message.kind === 'notification') return this.#log.notify(turn, spoken)
    listIn(this.#asks, idKey(message.id)).push(this.#log.ask(turn, spoken))
    this.#byAsk.set(idKey(message.id), turn)
  }

  #turnOf({ x }: Spoken, message: Request | Notification): Turn {
    const named = message.kind === 'notification' ? this.#namedBy(message) : undefined
    const inExchange = x === undefined ? undefined : this.#byExchange.get(x)
    return named ?? inExchange ?? this.#open.mostRecent ?? this.#last ?? this.#begin(undefined)
  }

  #namedBy({ method, params }: Notification): Turn | undefined {
    const subscription = metaOf(params, META.subscriptionId)
    if (isId(subscription)) return this.#bySubscription.get(idKey(subscription))
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(idKey(token))
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return undefined
    return this.#byAsk.get(idKey(id)) ?? this.#bySubscription.get(idKey(id))
  }

  #answer(spoken: Spoken, { id }: Response): void {
    const key = id === null ? '' : idKey(id)
    const answered = spoken.dir === 's2c' ? this.#answerTurn(spoken, key) : this.#answerAsk(spoken, key)
    if (!answered) this.#log.stray(spoken)
  }

  #answerTurn(spoken: Spoken, key: string): boolean {
    const found = this.#takeUnanswered(key, spoken.x)
    if (found === undefined) return false
    this.#log.respond(found.turn, spoken)
    return true
  }

  #takeUnanswered(key: string, exchange: number | undefined): Unanswered<Turn> | undefined {
    const waiting = this.#unanswered.get(key) ?? []
    const found = waiting.find(({ x }) => x === exchange) ?? waiting.find(isAnsweredAnywhere)
    if (found === undefined) return undefined
    if (waiting.length === 1) this.#unanswered.delete(key)
    else waiting.splice(waiting.indexOf(found), 1)
    this.#open.close(found.turn)
    return found
  }

  #answerAsk(spoken: Spoken, key: string): boolean {
    const waiting = this.#asks.get(key)
    const ask = waiting?.shift()
    if (waiting?.length === 0) this.#asks.delete(key)
    if (ask !== undefined) this.#log.answer(ask, spoken)
    return ask !== undefined
  }
}

// On legacy HTTP a resumed stream brings the answer in another exchange; on modern HTTP nothing is resumed.
function isAnsweredAnywhere<Turn>({ x, isEnveloped: isModern }: Unanswered<Turn>): boolean {
  return x === undefined || !isModern
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
