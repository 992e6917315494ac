import type { TurnLog } from '../../tape/conversation.ts'
import type { HttpFrame } from '../../tape/frame.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import { idKey, type Id } from '../../protocol/id.ts'
import type { Request } from '../../protocol/message.ts'
import { cancelledRequestId, isExchangeRequest, latencyBetween, requestTarget } from './exchange.ts'
import { summarizeServerRequest, connectionLabel, exchangeTitle } from '../exchange-line.ts'
import { ExchangeRows } from '../exchange-rows.ts'
import type { MissedRequest } from '../inspect/notes.ts'
import { ConnectionTracker } from '../links.ts'
import { exchangeOutcome } from '../outcome.ts'

/** What is told of messages outside of exchanges. */
export type OnOutsideMessage = (spoken: RecordedMessage) => void

/** Takes down the exchanges of a tape as they come, a row of numbers for each. A turn is known by its row. */
export class ExchangeLog implements TurnLog<number, OpenServerRequest> {
  readonly rows: ExchangeRows = new ExchangeRows()
  readonly connections: ConnectionTracker = new ConnectionTracker()
  readonly misses: MissedRequest[] = []
  readonly #onOutside: OnOutsideMessage
  /** The requests that are not answered yet, by their rows. */
  readonly #open = new Map<number, OpenRequest>()
  /** The latest of those with each id, and those of each HTTP exchange. */
  readonly #byId = new Map<string, number>()
  readonly #byHttpExchange = new Map<string, number[]>()

  constructor(onOutside: OnOutsideMessage) {
    this.#onOutside = onOutside
  }

  begin(trigger: RecordedMessage | undefined): number {
    if (trigger !== undefined && isExchangeRequest(trigger))
      return this.#openRequest(trigger, trigger.message)
    if (trigger !== undefined) this.#addNotification(trigger)
    return OUTSIDE
  }

  notify(row: number, message: RecordedMessage): void {
    if (row === OUTSIDE) this.#onOutside(message)
    else this.rows.countNotification(row)
  }

  ask(row: number, request: RecordedMessage): OpenServerRequest {
    if (row !== OUTSIDE)
      return {
        row,
        request,
        place: this.rows.setServerRequest(row, summarizeServerRequest(request, undefined)),
      }
    this.#onOutside(request)
    return { row, request, place: 0 }
  }

  answer({ row, request, place }: OpenServerRequest, message: RecordedMessage): void {
    if (row === OUTSIDE) this.#onOutside(message)
    else this.rows.setServerRequest(row, summarizeServerRequest(request, message), place)
  }

  respond(row: number, { t, message }: RecordedMessage): void {
    const open = this.#close(row)
    if (open === undefined || message.kind !== 'response') return
    const outcome = exchangeOutcome(message, 'unanswered')
    this.rows.setAnswered(row, latencyBetween(open.place, { t }), outcome)
    const sequence = row + 1
    this.connections.addResponse(open.place, { request: open.request, response: message, sequence })
    if (outcome.kind === 'miss') this.misses.push({ sequence, message: outcome.message })
  }

  cut(row: number): void {
    this.rows.setOutcome(row, { kind: 'cut' })
    this.#close(row)
  }

  stray(message: RecordedMessage): void {
    this.#onOutside(message)
  }

  /** The head of an answer over HTTP: what it says counts where nothing else was answered. */
  addHttpStatus({ server, x, http }: HttpFrame): void {
    if (!('status' in http)) return
    for (const row of this.#byHttpExchange.get(httpExchangeKeyOf(server, x)) ?? [])
      if (this.rows.outcomeKind(row) === 'unanswered')
        this.rows.setOutcome(row, { kind: 'unanswered', status: http.status })
  }

  #openRequest(place: RecordedMessage, request: Request): number {
    const title = exchangeTitle(request.method, requestTarget(request.params))
    const row = this.rows.begin({ at: place.t, link: connectionLabel(place), title })
    this.connections.addRequest(place, request, row + 1)
    const { t, server, conn, x } = place
    this.#open.set(row, { request, place: { t, server, conn, x } })
    this.#byId.set(openRequestKey(place, request.id), row)
    const inExchange = x === undefined ? undefined : httpExchangeKeyOf(server, x)
    if (inExchange !== undefined)
      this.#byHttpExchange.set(inExchange, [...(this.#byHttpExchange.get(inExchange) ?? []), row])
    return row
  }

  #addNotification(notification: RecordedMessage): void {
    this.#onOutside(notification)
    const id = cancelledRequestId(notification)
    const row = id === undefined ? undefined : this.#byId.get(openRequestKey(notification, id))
    if (row !== undefined) this.rows.setOutcome(row, { kind: 'cancelled' })
  }

  #close(row: number): OpenRequest | undefined {
    const open = this.#open.get(row)
    if (open === undefined) return undefined
    const { request, place } = open
    this.#open.delete(row)
    const key = openRequestKey(place, request.id)
    if (this.#byId.get(key) === row) this.#byId.delete(key)
    if (place.x !== undefined) this.#removeFromHttpExchange(httpExchangeKeyOf(place.server, place.x), row)
    return open
  }

  #removeFromHttpExchange(exchange: string, row: number): void {
    const rest = (this.#byHttpExchange.get(exchange) ?? []).filter((other) => other !== row)
    if (rest.length === 0) this.#byHttpExchange.delete(exchange)
    else this.#byHttpExchange.set(exchange, rest)
  }
}

const OUTSIDE = -1

interface OpenRequest {
  readonly request: Request
  readonly place: Pick<RecordedMessage, 't' | 'server' | 'conn'> & { readonly x: number | undefined }
}

interface OpenServerRequest {
  readonly row: number
  readonly request: RecordedMessage
  /** Which of the questions of its exchange it is. */
  readonly place: number
}

function openRequestKey({ server, conn }: Pick<RecordedMessage, 'server' | 'conn'>, id: Id): string {
  return JSON.stringify([server, conn, idKey(id)])
}

function httpExchangeKeyOf(server: string, x: number | undefined): string {
  return JSON.stringify([server, x])
}
