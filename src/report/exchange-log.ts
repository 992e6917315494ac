import type { TurnLog } from '../tape/conversation.ts'
import type { HttpFrame } from '../tape/frame.ts'
import type { Spoken } from '../tape/turn.ts'
import { idKey, type Id } from '../wire/id.ts'
import type { Request } from '../wire/message.ts'
import { cancelledId, isRequest, latencyBetween, targetOf } from './exchange-facts.ts'
import { askedBy, linkOf, titleOf } from './exchange-line.ts'
import { ExchangeRows } from './exchange-rows.ts'
import type { Miss } from './inspect-notes.ts'
import { Links } from './links.ts'
import { outcomeOf } from './outcome.ts'

/** What is told of messages outside of exchanges. */
export type OnOutside = (spoken: Spoken) => void

/** Takes down the exchanges of a tape as they come, a row of numbers for each. A turn is known by its row. */
export class ExchangeLog implements TurnLog<number, OpenAsk> {
  readonly rows: ExchangeRows = new ExchangeRows()
  readonly links: Links = new Links()
  readonly misses: Miss[] = []
  readonly #onOutside: OnOutside
  /** The requests that are not answered yet, by their rows. */
  readonly #open = new Map<number, OpenRequest>()
  /** The latest of those with each id, and those of each HTTP exchange. */
  readonly #byId = new Map<string, number>()
  readonly #byExchange = new Map<string, number[]>()

  constructor(onOutside: OnOutside) {
    this.#onOutside = onOutside
  }

  begin(trigger: Spoken | undefined): number {
    if (trigger !== undefined && isRequest(trigger)) return this.#ask(trigger, trigger.message)
    if (trigger !== undefined) this.#told(trigger)
    return OUTSIDE
  }

  notify(row: number, message: Spoken): void {
    if (row === OUTSIDE) this.#onOutside(message)
    else this.rows.notified(row)
  }

  ask(row: number, request: Spoken): OpenAsk {
    if (row !== OUTSIDE) return { row, request, place: this.rows.asked(row, askedBy(request, undefined)) }
    this.#onOutside(request)
    return { row, request, place: 0 }
  }

  answer({ row, request, place }: OpenAsk, message: Spoken): void {
    if (row === OUTSIDE) this.#onOutside(message)
    else this.rows.asked(row, askedBy(request, message), place)
  }

  respond(row: number, { t, message }: Spoken): void {
    const open = this.#close(row)
    if (open === undefined || message.kind !== 'response') return
    const outcome = outcomeOf(message, 'unanswered')
    this.rows.answered(row, latencyBetween(open.place, { t }), outcome)
    const sequence = row + 1
    this.links.answered(open.place, { request: open.request, response: message, sequence })
    if (outcome.kind === 'miss') this.misses.push({ sequence, message: outcome.message })
  }

  cut(row: number): void {
    this.rows.ended(row, { kind: 'cut' })
    this.#close(row)
  }

  stray(message: Spoken): void {
    this.#onOutside(message)
  }

  /** The head of an answer over HTTP: what it says counts where nothing else was answered. */
  status({ server, x, http }: HttpFrame): void {
    if (!('status' in http)) return
    for (const row of this.#byExchange.get(exchangeKey(server, x)) ?? [])
      if (this.rows.outcomeOf(row) === 'unanswered')
        this.rows.ended(row, { kind: 'unanswered', status: http.status })
  }

  #ask(place: Spoken, request: Request): number {
    const title = titleOf(request.method, targetOf(request.params))
    const row = this.rows.begin({ at: place.t, link: linkOf(place), title })
    this.links.asked(place, request, row + 1)
    const { t, server, conn, x } = place
    this.#open.set(row, { request, place: { t, server, conn, x } })
    this.#byId.set(callKey(place, request.id), row)
    const inExchange = x === undefined ? undefined : exchangeKey(server, x)
    if (inExchange !== undefined)
      this.#byExchange.set(inExchange, [...(this.#byExchange.get(inExchange) ?? []), row])
    return row
  }

  #told(notification: Spoken): void {
    this.#onOutside(notification)
    const id = cancelledId(notification)
    const row = id === undefined ? undefined : this.#byId.get(callKey(notification, id))
    if (row !== undefined) this.rows.ended(row, { kind: 'cancelled' })
  }

  #close(row: number): OpenRequest | undefined {
    const open = this.#open.get(row)
    if (open === undefined) return undefined
    const { request, place } = open
    this.#open.delete(row)
    const key = callKey(place, request.id)
    if (this.#byId.get(key) === row) this.#byId.delete(key)
    if (place.x !== undefined) this.#leave(exchangeKey(place.server, place.x), row)
    return open
  }

  #leave(exchange: string, row: number): void {
    const rest = (this.#byExchange.get(exchange) ?? []).filter((other) => other !== row)
    if (rest.length === 0) this.#byExchange.delete(exchange)
    else this.#byExchange.set(exchange, rest)
  }
}

const OUTSIDE = -1

interface OpenRequest {
  readonly request: Request
  readonly place: Pick<Spoken, 't' | 'server' | 'conn'> & { readonly x: number | undefined }
}

interface OpenAsk {
  readonly row: number
  readonly request: Spoken
  /** Which of the questions of its exchange it is. */
  readonly place: number
}

function callKey({ server, conn }: Pick<Spoken, 'server' | 'conn'>, id: Id): string {
  return JSON.stringify([server, conn, idKey(id)])
}

function exchangeKey(server: string, x: number | undefined): string {
  return JSON.stringify([server, x])
}
