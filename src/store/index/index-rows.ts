import { requestKey } from '../../match/request-key.ts'
import type { TurnLog } from '../../tape/conversation.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import { hasModernEnvelope } from '../../protocol/methods.ts'
import { toolOrPromptName } from '../../wire/name.ts'
import type { RequestKeyHash } from './request-scanner.ts'
import { uint32Column, float64Column } from '../columns.ts'
import { JsonHasher } from '../../json/hash.ts'
import { buildKeyTable } from './key-table.ts'
import { countTurnKinds } from '../kind-counts.ts'
import { TurnLabelTable } from '../labels.ts'
import type { NumberArray } from '../number-column.ts'
import { IndexStepRows } from '../step-log.ts'
import type { MessageLocation } from '../step-rows.ts'
import {
  TURN_FLAG,
  TURN_FLAG_BITS,
  STEP_KIND,
  type IndexedTapeFacts,
  type IndexData,
  type TurnColumns,
} from './tape-index.ts'

/** A line of the file. */
export interface LineLocation {
  readonly at: number
  readonly length: number
}

/** Writes turns down as rows of an index. A turn and a question are known by their row. */
export class IndexRows implements TurnLog<number, number> {
  /** The line that is being read. */
  line: LineLocation = { at: 0, length: 0 }
  /** The key of the request in it, when it is known. */
  scannedKey: RequestKeyHash | undefined
  readonly #hash = new JsonHasher()
  readonly #turns = {
    frame: float64Column(),
    triggerAt: float64Column(),
    triggerLength: uint32Column(),
    responseAt: float64Column(),
    responseLength: uint32Column(),
    hashLow: uint32Column(),
    hashHigh: uint32Column(),
    mark: uint32Column(),
    sketch: uint32Column(),
  }
  readonly #steps = new IndexStepRows()
  readonly #labels = new TurnLabelTable()

  begin(trigger: RecordedMessage | undefined): number {
    const turn = this.#turns.mark.length
    this.#turns.frame.push(trigger?.n ?? 0)
    this.#turns.triggerAt.push(trigger === undefined ? 0 : this.line.at)
    this.#turns.triggerLength.push(trigger === undefined ? 0 : this.line.length)
    this.#turns.responseAt.push(0)
    this.#turns.responseLength.push(0)
    this.#addKeyAndFlags(trigger)
    if (trigger?.item !== undefined) this.#addStep(turn, STEP_KIND.triggered, trigger)
    return turn
  }

  notify(turn: number, message: RecordedMessage): void {
    this.#addStep(turn, STEP_KIND.notify, message)
  }

  ask(turn: number, request: RecordedMessage): number {
    return this.#addStep(turn, STEP_KIND.ask, request)
  }

  answer(ask: number, message: RecordedMessage): void {
    this.#steps.setAnswer(ask, this.#locationOf(message))
  }

  respond(turn: number, message: RecordedMessage): void {
    const mark = this.#turns.mark.at(turn)
    this.#turns.mark.set(turn, mark | TURN_FLAG.answered)
    if (message.item !== undefined || (mark & TURN_FLAG.hasSteps) !== 0)
      return void this.#addStep(turn, STEP_KIND.respond, message)
    this.#turns.responseAt.set(turn, this.line.at)
    this.#turns.responseLength.set(turn, this.line.length)
  }

  // It stays without an answer.
  cut(): void {}

  // What belongs to no turn is not played.
  stray(): void {}

  toIndexData(about: IndexedTapeFacts): IndexData {
    const turns = this.#turnColumns()
    const labels = this.#labels.list
    return {
      turns: turns.mark.length,
      labels,
      kinds: countTurnKinds(turns.mark),
      about,
      ...turns,
      ...this.#steps.toColumns(),
      ...buildKeyTable(this.#turns),
    }
  }

  #turnColumns(): TurnColumns<NumberArray> & { readonly mark: Uint32Array } {
    return {
      frame: this.#turns.frame.toArray(),
      triggerAt: this.#turns.triggerAt.toArray(),
      triggerLength: this.#turns.triggerLength.toArray(),
      responseAt: this.#turns.responseAt.toArray(),
      responseLength: this.#turns.responseLength.toArray(),
      hashLow: this.#turns.hashLow.toArray(),
      hashHigh: this.#turns.hashHigh.toArray(),
      mark: this.#turns.mark.toArray(),
      sketch: this.#turns.sketch.toArray(),
    }
  }

  #addKeyAndFlags(trigger: RecordedMessage | undefined): void {
    const called = trigger !== undefined && 'method' in trigger.message ? trigger.message : undefined
    const server = trigger?.server ?? ''
    const method = called?.method ?? ''
    const found = called === undefined ? NO_KEY : (this.scannedKey ?? this.#keyOf(server, called))
    this.#turns.hashLow.push(found.low)
    this.#turns.hashHigh.push(found.high)
    this.#turns.sketch.push(found.sketch)
    const kind = called === undefined ? 0 : TURN_FLAG[called.kind]
    const enveloped = hasModernEnvelope(called?.params) ? TURN_FLAG.enveloped : 0
    this.#turns.mark.push(
      (this.#labels.numberOf(server, method, found.name) << TURN_FLAG_BITS) | kind | enveloped,
    )
  }

  #keyOf(server: string, { method, params }: Request | Notification): RequestKeyHash {
    const hash = this.#hash.hashCanonical(requestKey({ server, method, params }))
    return { ...hash, sketch: this.#hash.sketch, name: toolOrPromptName({ method, params }) }
  }

  #addStep(turn: number, kind: number, message: RecordedMessage): number {
    const mark = this.#turns.mark.at(turn)
    this.#turns.mark.set(turn, mark | TURN_FLAG.hasSteps)
    // What opens a connection has no trigger that says whose it is.
    if ((mark & (TURN_FLAG.request | TURN_FLAG.notification)) === 0)
      this.#turns.mark.set(
        turn,
        (this.#labels.numberOf(message.server, '') << TURN_FLAG_BITS) | TURN_FLAG.hasSteps,
      )
    return this.#steps.add(turn, kind, this.#locationOf(message))
  }

  #locationOf({ item }: RecordedMessage): MessageLocation {
    return { at: this.line.at, length: this.line.length, item }
  }
}

const NO_KEY: RequestKeyHash = { low: 0, high: 0, sketch: 0, name: undefined }
