import { requestKey } from '../match/key.ts'
import type { TurnLog } from '../tape/conversation.ts'
import type { Spoken } from '../tape/turn.ts'
import type { Notification, Request } from '../wire/message.ts'
import { isEnveloped } from '../wire/methods.ts'
import { nameOf } from '../wire/name.ts'
import type { FoundKey } from './call-scan.ts'
import { placesOf, wholeColumn, wideColumn } from './columns.ts'
import { JsonHash } from './json-hash.ts'
import { buildKeyTable } from './key-table.ts'
import { countKinds } from './kind-counts.ts'
import type { NumberArray } from './number-column.ts'
import {
  MARK,
  MARK_BITS,
  STEP,
  type About,
  type Label,
  type MadeIndex,
  type StepColumns,
  type TurnColumns,
} from './tape-index.ts'

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
  readonly #steps = {
    stepTurn: wholeColumn(),
    stepKind: wholeColumn(),
    stepAt: wideColumn(),
    stepLength: wholeColumn(),
    stepItem: wholeColumn(),
    answerAt: wideColumn(),
    answerLength: wholeColumn(),
    answerItem: wholeColumn(),
  }
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
    this.#steps.answerAt.set(ask, this.line.at)
    this.#steps.answerLength.set(ask, this.line.length)
    this.#steps.answerItem.set(ask, itemOf(message))
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
      ...this.#takenSteps(),
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

  #takenSteps(): StepColumns<NumberArray> {
    const order = inOrderOfTurns(this.#steps.stepTurn.taken())
    return {
      stepTurn: this.#steps.stepTurn.taken(order),
      stepKind: this.#steps.stepKind.taken(order),
      stepAt: this.#steps.stepAt.taken(order),
      stepLength: this.#steps.stepLength.taken(order),
      stepItem: this.#steps.stepItem.taken(order),
      answerAt: this.#steps.answerAt.taken(order),
      answerLength: this.#steps.answerLength.taken(order),
      answerItem: this.#steps.answerItem.taken(order),
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
    this.#steps.stepTurn.push(turn)
    this.#steps.stepKind.push(kind)
    this.#steps.stepAt.push(this.line.at)
    this.#steps.stepLength.push(this.line.length)
    this.#steps.stepItem.push(itemOf(message))
    this.#steps.answerAt.push(0)
    this.#steps.answerLength.push(0)
    this.#steps.answerItem.push(0)
    return this.#steps.stepTurn.length - 1
  }
}

const NO_KEY: FoundKey = { low: 0, high: 0, sketch: 0, name: undefined }

class Labels {
  readonly list: Label[] = []
  /** By method, server and name: to look up three texts takes less time than to join them. */
  readonly #numbers = new Map<string, Map<string, Map<string | undefined, number>>>()

  numberOf(server: string, method: string, name?: string): number {
    const ofMethod = this.#numbers.get(method) ?? new Map<string, Map<string | undefined, number>>()
    const ofServer = ofMethod.get(server) ?? new Map<string | undefined, number>()
    const known = ofServer.get(name)
    if (known !== undefined) return known
    this.#numbers.set(method, ofMethod.set(server, ofServer.set(name, this.list.length)))
    return this.list.push({ server, method, name }) - 1
  }
}

function itemOf({ item }: Spoken): number {
  return item === undefined ? 0 : item + 1
}

/** Steps are written as they come; those of one turn belong together. */
function inOrderOfTurns(turns: Uint32Array): Uint32Array {
  return placesOf(turns.length).toSorted((a, b) => (turns[a] ?? 0) - (turns[b] ?? 0) || a - b)
}
