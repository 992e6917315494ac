import { JsonHasher } from '../../json/hash.ts'
import { requestKey } from '../../match/request-key.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import { hasEnvelope, toolOrPromptName } from '../../protocol/methods.ts'
import { uint32Column, float64Column, type NumberArray, indexesUpTo } from '../columns.ts'
import { buildKeyTable } from './key-table.ts'
import type { RequestKeyHash } from './request-scanner.ts'
import {
  type MessageLocation,
  TURN_FLAG,
  TURN_FLAG_BITS,
  STEP_KIND,
  type IndexedTapeFacts,
  type IndexData,
  type TurnColumns,
  type StepColumns,
  type TurnLabel,
  type TurnKindCount,
} from './tape-index.ts'
import type { TurnLog } from '../../tape/conversation.ts'
import type { RecordedMessage } from '../../tape/turn.ts'

/** A line of the file. */
interface LineLocation {
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
    const enveloped = hasEnvelope(called?.params) ? TURN_FLAG.enveloped : 0
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

/** Writes the steps of turns down as rows of an index, as they come. */
class IndexStepRows {
  readonly #rows = {
    stepTurn: uint32Column(),
    stepKind: uint32Column(),
    stepAt: float64Column(),
    stepLength: uint32Column(),
    stepItem: uint32Column(),
    answerAt: float64Column(),
    answerLength: uint32Column(),
    answerItem: uint32Column(),
  }

  /** Gives the row of the step. */
  add(turn: number, kind: number, { at, length, item }: MessageLocation): number {
    const row = this.#rows.stepTurn.length
    this.#rows.stepTurn.push(turn)
    this.#rows.stepKind.push(kind)
    this.#rows.stepAt.push(at)
    this.#rows.stepLength.push(length)
    this.#rows.stepItem.push(oneBased(item))
    this.#rows.answerAt.push(0)
    this.#rows.answerLength.push(0)
    this.#rows.answerItem.push(0)
    return row
  }

  /** What the client answered to the question in a row. */
  setAnswer(row: number, { at, length, item }: MessageLocation): void {
    this.#rows.answerAt.set(row, at)
    this.#rows.answerLength.set(row, length)
    this.#rows.answerItem.set(row, oneBased(item))
  }

  /** All of them, those of one turn together. */
  toColumns(): StepColumns<NumberArray> {
    const order = orderByTurn(this.#rows.stepTurn.toArray())
    return {
      stepTurn: this.#rows.stepTurn.toArray(order),
      stepKind: this.#rows.stepKind.toArray(order),
      stepAt: this.#rows.stepAt.toArray(order),
      stepLength: this.#rows.stepLength.toArray(order),
      stepItem: this.#rows.stepItem.toArray(order),
      answerAt: this.#rows.answerAt.toArray(order),
      answerLength: this.#rows.answerLength.toArray(order),
      answerItem: this.#rows.answerItem.toArray(order),
    }
  }
}

function oneBased(item: number | undefined): number {
  return item === undefined ? 0 : item + 1
}

function orderByTurn(turns: Uint32Array): Uint32Array {
  return indexesUpTo(turns.length).toSorted((a, b) => (turns[a] ?? 0) - (turns[b] ?? 0) || a - b)
}

/** Numbers the labels of turns, each once. */
class TurnLabelTable {
  readonly list: TurnLabel[] = []
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

/** How many turns there are of each kind, and which is the first. */
function countTurnKinds(marks: Uint32Array): readonly TurnKindCount[] {
  const kinds = new Map<number, { mark: number; count: number; readonly first: number }>()
  // Turns of one kind stand in long runs: only where one ends is its kind looked up.
  for (let place = 0; place < marks.length;) {
    const mark = (marks[place] ?? 0) & ~FLAGS_OUTSIDE_KIND
    const first = place
    do place++
    while (place < marks.length && ((marks[place] ?? 0) & ~FLAGS_OUTSIDE_KIND) === mark)
    const known = kinds.get(mark)
    if (known === undefined) kinds.set(mark, { mark, count: place - first, first })
    else known.count += place - first
  }
  return [...kinds.values()]
}

const FLAGS_OUTSIDE_KIND = TURN_FLAG.enveloped | TURN_FLAG.answered | TURN_FLAG.hasSteps
