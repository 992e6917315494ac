import { requestKey } from '../match/key.ts'
import type { TurnLog } from '../tape/conversation.ts'
import type { Spoken } from '../tape/turn.ts'
import type { Notification, Request } from '../wire/message.ts'
import { isEnveloped } from '../wire/methods.ts'
import { nameOf } from '../wire/name.ts'
import type { FoundKey } from './call-scan.ts'
import { wholeColumn, wideColumn } from './columns.ts'
import { JsonHash } from './json-hash.ts'
import { buildKeyTable } from './key-table.ts'
import { countKinds } from './kind-counts.ts'
import { Labels } from './labels.ts'
import type { NumberArray } from './number-column.ts'
import { StepLog } from './step-log.ts'
import type { MessagePlace } from './step-rows.ts'
import { MARK, MARK_BITS, STEP, type About, type MadeIndex, type TurnColumns } from './tape-index.ts'

/** A line of the file. */
export interface LinePlace {
  readonly at: number
  readonly length: number
}

/** Writes turns down as rows of an index. A turn and a question are known by their row. */
export class IndexLog implements TurnLog<number, number> {
  /** The line that is being read. */
  line: LinePlace = { at: 0, length: 0 }
  /** The key of the request in it, when it is known. */
  found: FoundKey | undefined
  readonly #hash = new JsonHash()
  readonly #turns = {
    frame: wideColumn(),
    triggerAt: wideColumn(),
    triggerLength: wholeColumn(),
    responseAt: wideColumn(),
    responseLength: wholeColumn(),
    hashLow: wholeColumn(),
    hashHigh: wholeColumn(),
    mark: wholeColumn(),
    sketch: wholeColumn(),
  }
  readonly #steps = new StepLog()
  readonly #labels = new Labels()

  begin(trigger: Spoken | undefined): number {
    const turn = this.#turns.mark.length
    this.#turns.frame.push(trigger?.n ?? 0)
    this.#turns.triggerAt.push(trigger === undefined ? 0 : this.line.at)
    this.#turns.triggerLength.push(trigger === undefined ? 0 : this.line.length)
    this.#turns.responseAt.push(0)
    this.#turns.responseLength.push(0)
    this.#mark(trigger)
    if (trigger?.item !== undefined) this.#step(turn, STEP.triggered, trigger)
    return turn
  }

  notify(turn: number, message: Spoken): void {
    this.#step(turn, STEP.notify, message)
  }

  ask(turn: number, request: Spoken): number {
    return this.#step(turn, STEP.ask, request)
  }

  answer(ask: number, message: Spoken): void {
    this.#steps.answer(ask, this.#placeOf(message))
  }

  respond(turn: number, message: Spoken): void {
    const mark = this.#turns.mark.at(turn)
    this.#turns.mark.set(turn, mark | MARK.answered)
    if (message.item !== undefined || (mark & MARK.hasSteps) !== 0)
      return void this.#step(turn, STEP.respond, message)
    this.#turns.responseAt.set(turn, this.line.at)
    this.#turns.responseLength.set(turn, this.line.length)
  }

  // It stays without an answer.
  cut(): void {}

  // What belongs to no turn is not played.
  stray(): void {}

  taken(about: About): MadeIndex {
    const turns = this.#takenTurns()
    const labels = this.#labels.list
    return {
      turns: turns.mark.length,
      labels,
      kinds: countKinds(turns.mark),
      about,
      ...turns,
      ...this.#steps.taken(),
      ...buildKeyTable(this.#turns),
    }
  }

  #takenTurns(): TurnColumns<NumberArray> & { readonly mark: Uint32Array } {
    return {
      frame: this.#turns.frame.taken(),
      triggerAt: this.#turns.triggerAt.taken(),
      triggerLength: this.#turns.triggerLength.taken(),
      responseAt: this.#turns.responseAt.taken(),
      responseLength: this.#turns.responseLength.taken(),
      hashLow: this.#turns.hashLow.taken(),
      hashHigh: this.#turns.hashHigh.taken(),
      mark: this.#turns.mark.taken(),
      sketch: this.#turns.sketch.taken(),
    }
  }

  #mark(trigger: Spoken | undefined): void {
    const called = trigger !== undefined && 'method' in trigger.message ? trigger.message : undefined
    const server = trigger?.server ?? ''
    const method = called?.method ?? ''
    const found = called === undefined ? NO_KEY : (this.found ?? this.#keyOf(server, called))
    this.#turns.hashLow.push(found.low)
    this.#turns.hashHigh.push(found.high)
    this.#turns.sketch.push(found.sketch)
    const kind = called === undefined ? 0 : MARK[called.kind]
    const enveloped = isEnveloped(called?.params) ? MARK.enveloped : 0
    this.#turns.mark.push((this.#labels.numberOf(server, method, found.name) << MARK_BITS) | kind | enveloped)
  }

  #keyOf(server: string, { method, params }: Request | Notification): FoundKey {
    const hash = this.#hash.ofCanonical(requestKey({ server, method, params }))
    return { ...hash, sketch: this.#hash.sketch, name: nameOf({ method, params }) }
  }

  #step(turn: number, kind: number, message: Spoken): number {
    const mark = this.#turns.mark.at(turn)
    this.#turns.mark.set(turn, mark | MARK.hasSteps)
    // What opens a connection has no trigger that says whose it is.
    if ((mark & (MARK.request | MARK.notification)) === 0)
      this.#turns.mark.set(turn, (this.#labels.numberOf(message.server, '') << MARK_BITS) | MARK.hasSteps)
    return this.#steps.add(turn, kind, this.#placeOf(message))
  }

  #placeOf({ item }: Spoken): MessagePlace {
    return { at: this.line.at, length: this.line.length, item }
  }
}

const NO_KEY: FoundKey = { low: 0, high: 0, sketch: 0, name: undefined }
