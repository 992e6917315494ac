import { idKey, isId } from '../wire/id.ts'
import { member, type Notification, type Request, type Response } from '../wire/message.ts'
import { isEnveloped, META, metaOf } from '../wire/methods.ts'
import type { RawFrame } from './frame.ts'
import type { Spoken, Step, Turn } from './turn.ts'

interface OpenTurn extends Turn {
  readonly steps: Step[]
  response: Spoken | undefined
  cut?: number
}

interface Ask {
  readonly kind: 'ask'
  readonly request: Spoken
  answer: Spoken | undefined
}

/**
 * The turns of one connection.
 *
 * An answer goes to the oldest unanswered request of the other side with its typed id; on modern HTTP only within the exchange,
 * because ids may repeat across exchanges. What the server sends of its own accord belongs to the turn that its progress token,
 * subscription id, cancelled request or HTTP exchange names, answered or not; else to the most recently sent request that is
 * still open; else to the client's last message; else to a turn without trigger. A subscription gets only what names it.
 */
export class Conversation {
  readonly #turns: Turn[]
  readonly #strays: Spoken[]
  readonly #unanswered = new Map<string, OpenTurn[]>()
  readonly #asks = new Map<string, Ask[]>()
  readonly #byToken = new Map<string, OpenTurn>()
  readonly #bySubscription = new Map<string, OpenTurn>()
  readonly #byAsk = new Map<string, OpenTurn>()
  readonly #byExchange = new Map<number, OpenTurn>()
  readonly #open: OpenTurn[] = []
  readonly #cancelled = new Set<OpenTurn>()
  #last: OpenTurn | undefined

  /** Adds its turns and strays to lists that all connections of a tape share. */
  constructor({ turns, strays }: { turns: Turn[]; strays: Spoken[] }) {
    this.#turns = turns
    this.#strays = strays
  }

  add(spoken: Spoken): void {
    const { message, dir } = spoken
    if (message.kind === 'invalid') this.#strays.push(spoken)
    else if (message.kind === 'response') this.#answer(spoken, message)
    else if (dir === 's2c') this.#hear(spoken, message)
    else this.#speak(spoken, message)
  }

  /** The beginning of a message: of an answer it is still known whose it was. */
  addCut({ n, x, dir, cut }: RawFrame): void {
    if (dir !== 's2c' || cut?.id === undefined || cut.method !== undefined) return
    const turn = this.#takeUnanswered(idKey(cut.id), x)
    if (turn !== undefined) turn.cut = n
  }

  #speak(spoken: Spoken, message: Request | Notification): void {
    const turn = this.#begin(spoken)
    if (spoken.x !== undefined) this.#byExchange.set(spoken.x, turn)
    if (message.kind === 'notification') return this.#noteCancelled(message)
    listIn(this.#unanswered, idKey(message.id)).push(turn)
    const token = metaOf(message.params, META.progressToken)
    if (isId(token)) this.#byToken.set(idKey(token), turn)
    if (message.method === 'subscriptions/listen') this.#bySubscription.set(idKey(message.id), turn)
    else this.#open.push(turn)
  }

  #begin(trigger: Spoken | undefined): OpenTurn {
    const turn = { trigger, steps: [], response: undefined }
    this.#turns.push(turn)
    this.#last = turn
    return turn
  }

  // Its answer may still come, and then counts; but nothing else is taken for its doing.
  #noteCancelled({ method, params }: Notification): void {
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return
    for (const turn of this.#unanswered.get(idKey(id)) ?? []) this.#cancelled.add(turn)
  }

  #hear(spoken: Spoken, message: Request | Notification): void {
    const turn = this.#turnOf(spoken, message)
    if (message.kind === 'notification') {
      turn.steps.push({ kind: 'notify', message: spoken })
      return
    }
    const ask: Ask = { kind: 'ask', request: spoken, answer: undefined }
    turn.steps.push(ask)
    listIn(this.#asks, idKey(message.id)).push(ask)
    this.#byAsk.set(idKey(message.id), turn)
  }

  #turnOf({ x }: Spoken, message: Request | Notification): OpenTurn {
    const named = message.kind === 'notification' ? this.#namedBy(message) : undefined
    const inExchange = x === undefined ? undefined : this.#byExchange.get(x)
    return named ?? inExchange ?? this.#mostRecentOpen() ?? this.#last ?? this.#begin(undefined)
  }

  #namedBy({ method, params }: Notification): OpenTurn | undefined {
    const subscription = metaOf(params, META.subscriptionId)
    if (isId(subscription)) return this.#bySubscription.get(idKey(subscription))
    const token = member(params, 'progressToken')
    if (method === 'notifications/progress' && isId(token)) return this.#byToken.get(idKey(token))
    const id = member(params, 'requestId')
    if (method !== 'notifications/cancelled' || !isId(id)) return undefined
    return this.#byAsk.get(idKey(id)) ?? this.#bySubscription.get(idKey(id))
  }

  #mostRecentOpen(): OpenTurn | undefined {
    let turn = this.#open.at(-1)
    while (turn !== undefined && (isAnswered(turn) || this.#cancelled.has(turn))) {
      this.#open.pop()
      turn = this.#open.at(-1)
    }
    return turn
  }

  #answer(spoken: Spoken, { id }: Response): void {
    const key = id === null ? '' : idKey(id)
    const answered = spoken.dir === 's2c' ? this.#answerTurn(spoken, key) : this.#answerAsk(spoken, key)
    if (!answered) this.#strays.push(spoken)
  }

  #answerTurn(spoken: Spoken, key: string): boolean {
    const turn = this.#takeUnanswered(key, spoken.x)
    if (turn === undefined) return false
    turn.response = spoken
    turn.steps.push({ kind: 'respond', message: spoken })
    return true
  }

  #takeUnanswered(key: string, x: number | undefined): OpenTurn | undefined {
    const turns = this.#unanswered.get(key) ?? []
    const turn = turns.find(({ trigger }) => trigger?.x === x) ?? turns.find(isAnsweredAnywhere)
    if (turn !== undefined) turns.splice(turns.indexOf(turn), 1)
    return turn
  }

  #answerAsk(spoken: Spoken, key: string): boolean {
    const ask = this.#asks.get(key)?.shift()
    if (ask !== undefined) ask.answer = spoken
    return ask !== undefined
  }
}

function isAnswered({ response, cut }: Turn): boolean {
  return response !== undefined || cut !== undefined
}

// On legacy HTTP a resumed stream brings the answer in another exchange; on modern HTTP nothing is resumed.
function isAnsweredAnywhere({ trigger }: Turn): boolean {
  return (
    trigger?.x === undefined || trigger.message.kind !== 'request' || !isEnveloped(trigger.message.params)
  )
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
